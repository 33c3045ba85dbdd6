import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { needs } from "../../tests/testing/needs.ts";
import { filesPlace, skillMd } from "../../tests/testing/place.ts";
import { message, MODERN_META, Wire } from "../../tests/testing/server.ts";
import { eventually } from "../../tests/testing/waiting.ts";
import { attempt } from "../attempt.ts";
import { join } from "../fs/paths.ts";

const withProc = needs("proc");
const withSignals = needs("signals");

Deno.test("resources/subscribe reports changes to whatever a URI means", async () => {
  using place = filesPlace();
  await using session = await Session.open(place);
  const uris = {
    main: "skill://git",
    skillMd: "skill://git/SKILL.md",
    file: "skill://git/references/API.md",
    dir: "skill://git/references",
    collection: "skill://git/",
    other: "skill://hidden/",
    all: "skill://",
  };
  for (const uri of Object.values(uris)) {
    await session.client.subscribeResource({ uri });
  }
  const expectUpdates = async (...expected: string[]) => {
    for (const uri of expected) await session.updated(uri);
    assert.deepEqual(session.updates.takeAll(), []);
  };
  const git = "home/.claude/skills/git";
  place.replace(`${git}/references/API.md`, "# API 2");
  await expectUpdates(uris.file, uris.dir, uris.collection, uris.all);
  place.file(`${git}/references/new/new.md`, "New");
  await expectUpdates(uris.dir, uris.collection, uris.all);
  place.replace(`${git}/SKILL.md`, skillMd("git", "New text"));
  await expectUpdates(uris.main, uris.skillMd, uris.collection, uris.all);
  place.replace("home/.claude/skills/hidden/a.md", "changed");
  await expectUpdates(uris.other, uris.all);
  place.file(`${git}/.env`, "secret too");
  place.remove(`${git}/references/API.md`);
  await expectUpdates(uris.file, uris.dir, uris.collection, uris.all);
  place.remove("home/.claude/skills/hidden");
  await expectUpdates(uris.other, uris.all);
  place.skill("new", "hidden");
  const dir = join(place.home, ".claude", "skills", "hidden");
  Deno.renameSync(join(place.path, "new", "hidden"), dir);
  await expectUpdates(uris.other, uris.all);
});

Deno.test("resources/subscribe reports that another skill takes the name in a URI", async () => {
  using place = filesPlace();
  const first = place.dir("first");
  const args = [first, join(place.home, ".claude", "skills")];
  await using session = await Session.open(place, { args });
  const uri = "skill://git/SKILL.md";
  await session.client.subscribeResource({ uri });
  place.skill("first", "git");
  await session.updated(uri);
  place.remove("first/git");
  await session.updated(uri);
});

Deno.test("resources/unsubscribe ends the subscription", async () => {
  using place = filesPlace();
  await using session = await Session.open(place);
  const { client } = session;
  const [one, two] = ["skill://git/", "skill://git/logo.png"];
  for (const uri of [one, two]) await client.subscribeResource({ uri });
  await client.unsubscribeResource({ uri: one });
  await client.unsubscribeResource({ uri: "skill://never/subscribed" });
  place.file("home/.claude/skills/git/logo.png", "new");
  await session.updated(two);
  await client.unsubscribeResource({ uri: two });
  place.file("home/.claude/skills/git/logo.png", "newer");
  place.skill("home/.claude/skills", "new");
  await session.listChanged();
  assert.deepEqual(session.updates.takeAll(), []);
});

/** Returns whether the server watches directories, as Linux tells of all at once. */
function areWatched({ process }: Wire, ...dirs: string[]): boolean[] {
  const opened = `/proc/${process.pid}/fdinfo`;
  // A descriptor can be closed meanwhile.
  const read = (name: string) =>
    attempt(() => Deno.readTextFileSync(`${opened}/${name}`)) ?? "";
  const watches = [...Deno.readDirSync(opened)].map(({ name }) => read(name))
    .filter((text) => text.includes("inotify")).join();
  return dirs.map((dir) => Deno.statSync(dir).ino!.toString(16))
    .map((inode) => watches.includes(` ino:${inode} `));
}

withProc.test("a canceled subscriptions/listen no longer follows files, and others do", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const dir = "home/.claude/skills/git/references";
  const uri = "skill://git/references/API.md";
  const updatesOf = (id: string) => (line: string) =>
    line.includes("/updated") && line.includes(`subscriptionId":"${id}"`);
  for (const id of ["a", "b"]) {
    const notifications = { resourceSubscriptions: [uri] };
    const params = { _meta: MODERN_META, notifications };
    await wire.write(message(id, "subscriptions/listen", params));
  }
  const path = join(place.path, dir);
  const isWatched = () => areWatched(wire, path)[0]!;
  await eventually(isWatched, "the folder to be watched");
  const cancel = (requestId: string) =>
    wire.write(message(undefined, "notifications/cancelled", { requestId }));
  await cancel("a");
  // The server reads the messages in order.
  await wire.ask(1, "tools/list", { _meta: MODERN_META });
  place.replace(`${dir}/API.md`, "# API 2");
  await wire.lines.take(updatesOf("b"), "an update");
  assert.ok(!wire.lines.values.some(updatesOf("a")));
  await cancel("b");
  await wire.ask(2, "tools/list", { _meta: MODERN_META });
  const created = place.skill("home/.claude/skills", "new");
  await eventually(() => {
    const [isOther, isStill] = areWatched(wire, created, path);
    return isOther! && !isStill;
  }, "only the other folder to be watched");
});

Deno.test("resources/subscribe and subscriptions/listen refuse unknown URIs", async () => {
  using place = filesPlace();
  await using legacy = await Wire.open(place);
  await using wire = new Wire(place);
  for (const uri of ["skill://none", "file:///etc/passwd", "skill://git/.."]) {
    const notifications = { resourceSubscriptions: ["skill://git", uri] };
    const params = { notifications, _meta: MODERN_META };
    const errors = [
      (await legacy.ask(1, "resources/subscribe", { uri })).error!,
      (await wire.ask(1, "subscriptions/listen", params)).error!,
    ];
    for (const { code, data } of errors) {
      assert.deepEqual([code, data], [-32602, { uri }]);
    }
  }
});

Deno.test("subscriptions/listen follows no files for a session that has no such method", async () => {
  using place = filesPlace();
  await using wire = await Wire.open(place);
  const params = { notifications: { resourceSubscriptions: ["skill://none"] } };
  const { error } = await wire.ask(1, "subscriptions/listen", params);
  assert.equal(error!.code, -32601);
});

for (const end of ["the end of its input", "SIGTERM"]) {
  withSignals.test(`subscriptions/listen ends with a result after ${end}`, async () => {
    using place = filesPlace();
    await using wire = new Wire(place);
    const notifications = { toolsListChanged: true, somethingElse: true };
    const params = { _meta: MODERN_META, notifications };
    await wire.write(message("a", "subscriptions/listen", params));
    const take = async (what: string) =>
      JSON.parse(await wire.lines.take(() => true, what));
    const acknowledgment = await take("the acknowledgment");
    assert.match(acknowledgment.method, /\/acknowledged$/);
    const honored = acknowledgment.params.notifications;
    assert.deepEqual(honored, { toolsListChanged: true });
    if (end === "SIGTERM") wire.process.kill("SIGTERM");
    const { code } = await (end === "SIGTERM" ? wire.ended : wire.endInput());
    assert.equal(code, 0);
    const { id, result } = await take("the result");
    assert.deepEqual([id, result.resultType], ["a", "complete"]);
  });
}
