import assert from "node:assert/strict";
import { skillUri } from "../../mod.ts";
import {
  type Entry,
  listSkills,
  pages,
  verify,
} from "../../tests/testing/client.ts";
import { DiskSpy } from "../../tests/testing/fakes.ts";
import { LocalServer } from "../../tests/testing/local_server.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/place.ts";
import { Wire } from "../../tests/testing/server.ts";

const SKILLS = "home/.claude/skills";

/** The options of a server that scans only when it is asked. */
const STILL = ["--no-watch", "--refresh", "0"];

/** Creates a place with a skill whose files are hard to serve correctly. */
function hardPlace(): Place {
  const place = new Place();
  const skill = `${SKILLS}/hard`;
  place.file(
    `${skill}/SKILL.md`,
    "\ufeff---\r\nname: hard\r\ndescription: ' Hard files '\r\nsince: 2024-01-02\r\nversion: 1.10\r\nempty:\r\nyes: yes\r\nlists:\r\n  a: &x [1, 2]\r\n  b: *x\r\nmetadata:\r\n  version: '1.0'\r\n---\r\nBody\r\n",
  );
  place.file(`${skill}/empty.txt`, "");
  place.file(`${skill}/binary.bin`, new Uint8Array([0, 1, 0xff, 0xfe]));
  place.file(`${skill}/latin1.txt`, new Uint8Array([0x67, 0x72, 0xfc, 0xdf]));
  place.file(`${skill}/bom.md`, "\ufeffWith a mark\r\n");
  for (const name of ["a b", "a#", "100%", "größe 🎉", "a+b&c=d"]) {
    place.file(`${skill}/${name}/${name}.md`, name);
  }
  place.file(`${skill}/nested/SKILL.md`, skillMd("nested"));
  place.file(`${skill}/nested/more.md`, "More");
  place.file(`${skill}/.env`, "secret");
  place.file(`${skill}/.git/config`, "secret");
  place.file(`${skill}/large.bin`, new Uint8Array(2 ** 20 + 1));
  return place;
}

Deno.test("skills/list and skills/get return the frontmatter, and a digest of each file", async () => {
  using place = hardPlace();
  await using wire = await Wire.open(place);
  const [entry, ...rest] = await listSkills(wire);
  assert.deepEqual(rest, []);
  assert.equal(entry!.uri, "skill://hard/SKILL.md");
  assert.deepEqual(entry!.frontmatter, {
    name: "hard",
    description: " Hard files ",
    since: "2024-01-02",
    version: 1.1,
    empty: null,
    yes: "yes",
    lists: { a: [1, 2], b: [1, 2] },
    metadata: { version: "1.0" },
  });
  assert.deepEqual(
    entry!.resources.map(({ uri }) => uri.replace("skill://hard/", "")).sort(),
    [
      "100%25/100%25.md",
      "SKILL.md",
      "a%20b/a%20b.md",
      "a%2Bb%26c%3Dd/a%2Bb%26c%3Dd.md",
      "a%23/a%23.md",
      "binary.bin",
      "bom.md",
      "empty.txt",
      "gr%C3%B6%C3%9Fe%20%F0%9F%8E%89/gr%C3%B6%C3%9Fe%20%F0%9F%8E%89.md",
      "latin1.txt",
      "nested/SKILL.md",
      "nested/more.md",
    ].sort(),
  );
  await verify(wire, entry!);
  const { result } = await wire.ask(1, "skills/get", { uri: entry!.uri });
  assert.deepEqual(result, { skill: entry });
  const paths = [
    "none/SKILL.md",
    "hard",
    "hard/",
    "hard/a.md",
    "HARD/SKILL.md",
  ];
  for (const path of paths) {
    const uri = `skill://${path}`;
    const { error } = await wire.ask(1, "skills/get", { uri });
    assert.equal(error!.code, -32602);
    assert.ok(error!.message.startsWith(`Unknown skill "${uri}": pass a URI`));
  }
});

/** Skills that hosts cannot load: the name, the reason, and the `SKILL.md`. */
const unlisted: [name: string, reason: string, text: string][] = [
  ["Git-Hub", "must consist of", skillMd("Git-Hub")],
  ["colon", "needs a correction", skillMd("colon", "Use: this")],
  ["cycle", "JSON cannot represent", skillMd("cycle", "d\nfield: &a [*a]")],
  ["many", "the skill has more than 512 files", skillMd("many")],
  ["wide", "2048 files and folders", skillMd("wide")],
  ["heavy", "or 16 MiB", skillMd("heavy")],
];

Deno.test("skills/get says why skills/list omits skills that hosts cannot load", async () => {
  using place = new Place();
  place.skill(SKILLS, "good");
  for (const [name, , text] of unlisted) {
    place.file(`${SKILLS}/${name}/SKILL.md`, text);
  }
  // With its SKILL.md, this one has as many as hosts accept.
  for (let i = 0; i < 511; i++) place.file(`${SKILLS}/good/${i}`, "x");
  for (let i = 0; i < 1_536; i++) place.dir(`${SKILLS}/good/d${i}`);
  for (let i = 0; i < 512; i++) place.file(`${SKILLS}/many/${i}`, "x");
  for (let i = 0; i < 2_048; i++) place.dir(`${SKILLS}/wide/${i}`);
  const large = new Uint8Array(2 ** 20);
  for (let i = 0; i < 16; i++) place.file(`${SKILLS}/heavy/${i}`, large);
  await using wire = await Wire.open(place);
  const entries = await listSkills(wire);
  assert.deepEqual(entries.map(({ uri }) => uri), ["skill://good/SKILL.md"]);
  for (const [name, reason] of unlisted) {
    const uri = skillUri(name, "SKILL.md");
    const { error } = await wire.ask(1, "skills/get", { uri });
    assert.equal(error!.code, -32602);
    assert.ok(error!.message.includes(reason), `${name}: ${error!.message}`);
    assert.match(error!.message, /; \w/);
  }
});

Deno.test("skills/list has pages that clients accept, the user's own skills first", async () => {
  using place = new Place();
  place.skill(SKILLS, "mine");
  const aliases = `a: &a ${"x".repeat(5_000)}\nb: [${"*a,".repeat(45)}]\n`;
  const names = Array.from({ length: 60 }, (_, index) => `a${index}`);
  for (const name of names) {
    place.skill("project/.claude/skills", name, skillMd(name, "d", aliases));
  }
  await using wire = await Wire.open(place);
  const results = await pages(wire, "skills/list");
  assert.ok(results.length > 1);
  const listed = results.flatMap(({ skills }) => skills)
    .map(({ frontmatter }: Entry) => frontmatter.name);
  assert.equal(listed[0], "mine");
  assert.deepEqual(listed.toSorted(), [...names, "mine"].toSorted());
});

Deno.test("skills/list reads the files at most twice for requests at the same time", async () => {
  using place = new Place();
  const { project, home } = place;
  for (let i = 0; i < 10; i++) place.skill(SKILLS, `s${i}`);
  using server = await LocalServer.open({ project, home, args: STILL });
  // Selects the revision, as the first request does.
  const [first] = await pages(server, "skills/list");
  using disk = new DiskSpy();
  const requests = Array.from({ length: 50 }, () => listSkills(server));
  for (const skills of await Promise.all(requests)) {
    assert.deepEqual(skills, first.skills);
  }
  assert.equal(disk.counts.get("openSync"), 2 * 10);
});

Deno.test("skills/list, skills/get, and resources/read agree while files change", async () => {
  using place = new Place();
  const skill = `${SKILLS}/git`;
  place.skill(SKILLS, "git");
  await using wire = await Wire.open(place, { args: STILL });
  for (let round = 0; round < 20; round++) {
    // The size stays the same, and often the time does too, so only the content
    // differs.
    place.file(`${skill}/a.md`, String(round % 10));
    place.file(`${skill}/SKILL.md`, skillMd("git", `Round ${round % 10}`));
    const [entry] = await listSkills(wire);
    assert.equal(entry!.frontmatter.description, `Round ${round % 10}`);
    await verify(wire, entry!);
  }
  const cases = [
    ["no frontmatter", 'the file does not begin with a line "---"'],
    [skillMd("other"), "the skill was renamed; list the skills again"],
  ] as const;
  for (const [text, fault] of cases) {
    place.skill(SKILLS, "git", text);
    const uri = "skill://git/SKILL.md";
    const { error } = await wire.ask(1, "skills/get", { uri });
    const start = `Cannot get the skill "${uri}": ${fault}`;
    assert.ok(error!.message.startsWith(start), error!.message);
    assert.deepEqual(await listSkills(wire), []);
  }
});

Deno.test("resources/directory/read lists only the entries of a directory", async () => {
  using place = filesPlace();
  await using wire = await Wire.open(place);
  const read = async (uri: string) =>
    (await wire.ask(1, "resources/directory/read", { uri })).result;
  const entries = await read("skill://git");
  assert.deepEqual(entries, {
    resources: [
      {
        uri: "skill://git/SKILL.md",
        name: "SKILL.md",
        mimeType: "text/markdown",
        size: skillMd("git", "Work with git").length,
      },
      {
        uri: "skill://git/logo.png",
        name: "logo.png",
        mimeType: "image/png",
        size: 2,
      },
      {
        uri: "skill://git/references",
        name: "references",
        mimeType: "inode/directory",
      },
    ],
  });
  // The URI that resources/list has.
  assert.deepEqual(await read("skill://git/"), entries);
  const references = await read("skill://git/references");
  assert.deepEqual(await read("skill://git/references/"), references);
  const { resources } = await read("skill://git/references/deep");
  assert.deepEqual(resources.map(({ uri }: { uri: string }) => uri), [
    "skill://git/references/deep/more.md",
  ]);
  for (const path of ["SKILL.md", "none", "references//", ".git", ".."]) {
    const uri = `skill://git/${path}`;
    const { error } = await wire.ask(1, "resources/directory/read", { uri });
    assert.deepEqual([error!.code, error!.data], [-32602, { uri }]);
  }
});
