import assert from "node:assert/strict";
import {
  ENCODED_ODD,
  filesPlace,
  ODD,
  Place,
  type Reply,
  Session,
  skillMd,
  Wire,
  within,
} from "../../tests/testing.ts";

Deno.test("resources/list contains each skill's SKILL.md and the collection of its files", async () => {
  using place = filesPlace();
  await using session = await Session.open(place);
  const { resources } = await session.client.listResources();
  assert.deepEqual(resources.slice(0, 2), [
    {
      uri: "skill://git/",
      name: "git/",
      description: "All files of the skill git except its SKILL.md",
    },
    {
      uri: "skill://git/SKILL.md",
      name: "git",
      description: "Work with git",
      mimeType: "text/markdown",
    },
  ]);
  assert.deepEqual(resources.slice(2).map(({ uri }) => uri), [
    "skill://hidden/",
    "skill://hidden/SKILL.md",
  ]);
  const { resourceTemplates } = await session.client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
    "skill://{name}",
    "skill://{name}/",
    "skill://{name}/{+path}",
  ]);
});

Deno.test("resources/read reads a skill, one of its files, or all of its files", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "odd", skillMd("'Größe & 100%'"));
  place.file(
    `home/.claude/skills/odd/a b/ü#${ODD}.ts`,
    "\ufeffconst x = 1;\r\n",
  );
  place.file("home/.claude/skills/odd/LICENSE", "MIT");
  await using session = await Session.open(place);
  const read = async (uri: string) =>
    (await session.client.readResource({ uri })).contents;
  const mimeType = "text/markdown";
  const text = skillMd("git", "Work with git");
  for (const uri of ["skill://git", "skill://git/SKILL.md"]) {
    assert.deepEqual(await read(uri), [{ uri, mimeType, text }]);
  }
  const files = [
    { uri: "skill://git/logo.png", mimeType: "image/png", blob: "if8=" },
    { uri: "skill://git/references/API.md", mimeType, text: "# API" },
    { uri: "skill://git/references/deep/more.md", mimeType, text: "# More" },
  ];
  assert.deepEqual(await read("skill://git/"), files);
  for (const file of files) assert.deepEqual(await read(file.uri), [file]);
  assert.deepEqual(await read("skill://hidden/"), [
    { uri: "skill://hidden/a.md", mimeType, text: "hidden" },
  ]);
  const odd = "skill://Gr%C3%B6%C3%9Fe%20%26%20100%25";
  assert.deepEqual(await read(`${odd}/`), [
    { uri: `${odd}/LICENSE`, mimeType: "text/plain", text: "MIT" },
    {
      uri: `${odd}/a%20b/%C3%BC%23${ENCODED_ODD}.ts`,
      mimeType: "text/typescript",
      text: "\ufeffconst x = 1;\r\n",
    },
  ]);
});

Deno.test("resources/read returns an invalid-params error with the URI for an unknown URI", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  let id = 0;
  for (
    const uri of [
      "skill://none/SKILL.md",
      "skill://git/none.md",
      "skill://git/references",
      "skill://git/.env",
      "skill://git/../hidden/a.md",
      "skill://git/%2e%2e/hidden/a.md",
      "file:///etc/passwd",
      "skill://",
      "",
    ]
  ) {
    const { error } = await wire.ask(++id, "resources/read", { uri });
    assert.equal(error!.code, -32602);
    assert.deepEqual(error!.data, { uri });
    assert.ok(!error!.message.includes(place.path));
  }
});

Deno.test("lists are paged, and each page continues after the previous one even if the list changes", async () => {
  using place = new Place();
  const count = 1_050;
  const name = (i: number) => `s${String(i).padStart(4, "0")}`;
  for (let i = 0; i < count; i++) place.skill("home/.claude/skills", name(i));
  await using session = await Session.open(place);
  const { client } = session;
  const first = await client.listPrompts();
  assert.equal(first.prompts.length, 1_000);
  place.remove(`home/.claude/skills/${name(7)}`);
  place.remove(`home/.claude/skills/${name(998)}`);
  place.skill("home/.claude/skills", "a-new-one");
  await session.listChanged("prompts");
  const second = await client.listPrompts({ cursor: first.nextCursor });
  assert.equal(second.nextCursor, undefined);
  const all = [...first.prompts, ...second.prompts].map(({ name }) => name);
  assert.deepEqual(all, [
    "skill",
    ...Array.from({ length: count }, (_, i) => name(i)),
  ]);
  const uris: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources({ cursor });
    uris.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assert.equal(uris.length, 2 * (count - 1));
  assert.deepEqual(uris, [...uris].sort());
  for (const cursor of ["x", "", "e30", "bnVsbA"]) {
    await assert.rejects(client.listResources({ cursor }), { code: -32602 });
    await assert.rejects(client.listPrompts({ cursor }), { code: -32602 });
  }
});

Deno.test("resources/subscribe reports changes to a skill, a file, a folder, a collection, or everything", async () => {
  using place = filesPlace();
  await using session = await Session.open(place);
  const uris = {
    main: "skill://git",
    skillMd: "skill://git/SKILL.md",
    file: "skill://git/references/API.md",
    folder: "skill://git/references",
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
  place.replace("home/.claude/skills/git/references/API.md", "# API 2");
  await expectUpdates(uris.file, uris.folder, uris.collection, uris.all);
  place.replace(
    "home/.claude/skills/git/references/deep/more.md",
    "# More 2",
  );
  await expectUpdates(uris.folder, uris.collection, uris.all);
  place.file("home/.claude/skills/git/references/new/new.md", "New");
  await expectUpdates(uris.folder, uris.collection, uris.all);
  place.replace(
    "home/.claude/skills/git/SKILL.md",
    skillMd("git", "New text"),
  );
  await expectUpdates(uris.main, uris.skillMd, uris.collection, uris.all);
  place.replace("home/.claude/skills/hidden/a.md", "changed");
  await expectUpdates(uris.other, uris.all);
  place.file("home/.claude/skills/git/.env", "secret too");
  place.remove("home/.claude/skills/git/references/API.md");
  await expectUpdates(uris.file, uris.folder, uris.collection, uris.all);
  place.remove("home/.claude/skills/hidden");
  await expectUpdates(uris.other, uris.all);
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

Deno.test("resources/subscribe notifies once even if it is repeated ten thousand times", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const uri = "skill://git/logo.png";
  const subscribe = (id: number) =>
    `${
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "resources/subscribe",
        params: { uri },
      })
    }\n`;
  const times = 10_000;
  await wire.write(
    Array.from({ length: times }, (_, index) => subscribe(index + 1)).join(""),
  );
  assert.deepEqual((await wire.reply(times)).result, {});
  wire.lines.takeAll();
  place.file("home/.claude/skills/git/logo.png", "new");
  const isNotification = (line: string) => line.includes("resources/updated");
  await wire.lines.take(isNotification, "the notification");
  await wire.ask(times + 1, "ping");
  assert.deepEqual(wire.lines.takeAll().filter(isNotification), []);
});

Deno.test("resources/subscribe refuses unknown URIs and too many subscriptions", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  for (const uri of ["skill://none", "file:///etc/passwd", "skill://git/.."]) {
    const { error } = await wire.ask(1, "resources/subscribe", { uri });
    assert.deepEqual([error!.code, error!.data], [-32602, { uri }]);
  }
  const codes: (number | undefined)[] = [];
  let count = 0;
  const answered = Promise.withResolvers<void>();
  wire.onLine = (line) => {
    const { id, error }: Reply = JSON.parse(line);
    codes[id as number] = error?.code;
    // A refusal can come before the replies to earlier requests.
    if (++count === 10_001) answered.resolve();
  };
  const lines = Array.from({ length: 10_001 }, (_, id) => {
    const params = { uri: `skill://git/${id}` };
    const method = "resources/subscribe";
    return JSON.stringify({ jsonrpc: "2.0", id, method, params });
  });
  await wire.write(`${lines.join("\n")}\n`);
  await within(answered.promise, "the replies");
  assert.deepEqual(codes, [...Array(10_000).fill(undefined), -32602]);
});

Deno.test("completion/complete completes names and paths by prefix, ignoring case", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "Gitlab");
  await using session = await Session.open(place);
  const complete = async (
    ref: { type: "ref/prompt"; name: string } | {
      type: "ref/resource";
      uri: string;
    },
    [name, value]: [string, string],
    context?: Record<string, string>,
  ) => {
    const argument = { name, value };
    const params = { ref, argument, context: { arguments: context } };
    return (await session.client.complete(params)).completion.values;
  };
  const prompt = { type: "ref/prompt", name: "skill" } as const;
  assert.deepEqual(await complete(prompt, ["name", "GI"]), ["git", "Gitlab"]);
  assert.deepEqual(await complete(prompt, ["name", "x"]), []);
  assert.deepEqual(await complete(prompt, ["other", ""]), []);
  const file = { type: "ref/resource", uri: "skill://{name}/{+path}" } as const;
  assert.deepEqual(await complete(file, ["name", "gitl"]), ["Gitlab"]);
  assert.deepEqual(
    await complete(file, ["path", "REF"], { name: "GIT" }),
    ["references/API.md", "references/deep/more.md"],
  );
  assert.deepEqual(await complete(file, ["path", ""], { name: "none" }), []);
  assert.deepEqual(await complete(file, ["path", ""]), []);
  const unknown = { type: "ref/prompt", name: "none" } as const;
  await assert.rejects(complete(unknown, ["name", ""]), { code: -32602 });
  const other = { type: "ref/resource", uri: "skill://x" } as const;
  await assert.rejects(complete(other, ["name", ""]), { code: -32602 });
});

Deno.test("completion/complete returns a hundred values and the total", async () => {
  using place = new Place();
  for (let i = 0; i < 120; i++) place.skill("home/.claude/skills", `s${i}`);
  await using session = await Session.open(place);
  const { completion } = await session.client.complete({
    ref: { type: "ref/prompt", name: "skill" },
    argument: { name: "name", value: "s" },
  });
  const { values, total, hasMore } = completion;
  assert.deepEqual([values.length, total, hasMore], [100, 120, true]);
});
