import assert from "node:assert/strict";
import { skillUri } from "../../mod.ts";
import {
  type Entry,
  listSkills,
  pages,
  verify,
} from "../../tests/testing/client.ts";
import {
  ENCODED_ODD,
  ODD,
  SEPARATOR,
} from "../../tests/testing/environment.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { runServer, Wire } from "../../tests/testing/server.ts";

/** Creates a place with a skill whose files are hard to serve correctly. */
function hardPlace(): Place {
  const place = new Place();
  const skill = "home/.claude/skills/hard";
  place.file(
    `${skill}/SKILL.md`,
    "\ufeff---\r\nname: hard\r\ndescription: ' Hard files '\r\nsince: 2024-01-02\r\nversion: 1.10\r\nempty:\r\nyes: yes\r\nlists:\r\n  a: &x [1, 2]\r\n  b: *x\r\nmetadata:\r\n  version: '1.0'\r\n---\r\nBody\r\n",
  );
  place.file(`${skill}/empty.txt`, "");
  place.file(`${skill}/binary.bin`, new Uint8Array([0, 1, 0xff, 0xfe]));
  place.file(`${skill}/latin1.txt`, new Uint8Array([0x67, 0x72, 0xfc, 0xdf]));
  place.file(`${skill}/bom.md`, "\ufeffWith a mark\r\n");
  for (
    const name of ["a b", "a#b", `a${ODD}b`, "100%", "größe", "🎉", "a+b&c=d"]
  ) {
    place.file(`${skill}/${name}/${name}.md`, name);
  }
  place.file(`${skill}/nested/SKILL.md`, skillMd("nested"));
  place.file(`${skill}/nested/more.md`, "More");
  place.file(`${skill}/.env`, "secret");
  place.file(`${skill}/.git/config`, "secret");
  place.file(`${skill}/large.bin`, new Uint8Array(2 ** 20 + 1));
  return place;
}

Deno.test("skills/list contains each skill's frontmatter, and the digest and size of each of its files", async () => {
  using place = hardPlace();
  await using wire = new Wire(place);
  await wire.initialize();
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
      "a%23b/a%23b.md",
      "a%2Bb%26c%3Dd/a%2Bb%26c%3Dd.md",
      `a${ENCODED_ODD}b/a${ENCODED_ODD}b.md`,
      "binary.bin",
      "bom.md",
      "empty.txt",
      "gr%C3%B6%C3%9Fe/gr%C3%B6%C3%9Fe.md",
      "latin1.txt",
      "nested/SKILL.md",
      "nested/more.md",
      "%F0%9F%8E%89/%F0%9F%8E%89.md",
    ].sort(),
  );
  await verify(wire, entry!);
});

Deno.test("skills/get returns the same entry as skills/list", async () => {
  using place = hardPlace();
  place.skill("home/.claude/skills", "git");
  await using wire = new Wire(place);
  await wire.initialize();
  for (const entry of await listSkills(wire)) {
    const { result } = await wire.ask(1, "skills/get", { uri: entry.uri });
    assert.deepEqual(result, { skill: entry });
  }
});

Deno.test("skills/get returns an invalid-params error for anything but the URI of a SKILL.md", async () => {
  using place = hardPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  for (
    const uri of [
      "skill://none/SKILL.md",
      "skill://hard",
      "skill://hard/",
      "skill://hard/bom.md",
      "skill://hard/nested/SKILL.md",
      "skill://HARD/SKILL.md",
      "skill://hard/SKILL.md/",
      "file:///etc/passwd",
      "",
    ]
  ) {
    const { error } = await wire.ask(1, "skills/get", { uri });
    assert.equal(error!.code, -32602);
    assert.ok(error!.message.includes(JSON.stringify(uri)), error!.message);
  }
  for (const params of [{}, { uri: 7 }]) {
    const { error } = await wire.ask(1, "skills/get", params);
    assert.equal(error!.code, -32602);
    assert.match(error!.message, /^Invalid params: "params.uri": /);
  }
});

/** Skills that hosts cannot load: the name, the reason, and a function that breaks the skill. */
const unlisted: [string, string, (place: Place, skill: string) => void][] = [
  ["Git-Hub", "does not consist of", () => {}],
  ["git--hub", "does not consist of", () => {}],
  ["-git", "hyphen", () => {}],
  ["größe", "does not consist of", () => {}],
  ["x".repeat(65), "the limit is 64", () => {}],
  [
    "long",
    "the limit is 1024",
    (place) =>
      place.skill(
        "home/.claude/skills",
        "long",
        skillMd("long", "😀".repeat(1025)),
      ),
  ],
  [
    "many",
    "the skill has more than 512 files",
    (place, skill) => {
      for (let i = 0; i < 512; i++) place.file(`${skill}/${i}`, "x");
    },
  ],
  [
    "much",
    "more than 16 MiB",
    (place, skill) => {
      for (let i = 0; i < 16; i++) {
        place.file(`${skill}/${i}`, new Uint8Array(2 ** 20));
      }
    },
  ],
  [
    "metadata",
    "in metadata is not a string",
    (place) =>
      place.skill(
        "home/.claude/skills",
        "metadata",
        "---\nname: metadata\ndescription: d\nmetadata:\n  version: 1.0\n---\n",
      ),
  ],
  [
    "compatibility",
    "compatibility is not a string",
    (place) =>
      place.skill(
        "home/.claude/skills",
        "compatibility",
        "---\nname: compatibility\ndescription: d\ncompatibility: 3\n---\n",
      ),
  ],
  [
    "latin",
    "not valid UTF-8",
    (place, skill) =>
      place.file(
        `${skill}/SKILL.md`,
        Uint8Array.from(
          "---\nname: latin\ndescription: caf\u00e9\n---\n",
          (character) => character.charCodeAt(0),
        ),
      ),
  ],
  ["cycle", "JSON cannot represent", withField("cycle", "&a [*a]")],
  ["nan", "JSON cannot represent", withField("nan", ".nan")],
  ["infinity", "JSON cannot represent", withField("infinity", "-.inf")],
  [
    "surrogate",
    "JSON cannot represent",
    withField("surrogate", '"\\ud800"'),
  ],
  [
    "deep",
    "JSON cannot represent",
    withField("deep", "[".repeat(80) + "]".repeat(80)),
  ],
  [
    "bomb",
    "JSON cannot represent",
    withField(
      "bomb",
      `{a: &a [x,x,x,x,x,x,x,x], b: &b [*a,*a,*a,*a,*a,*a,*a,*a], c: &c [*b,*b,*b,*b,*b,*b,*b,*b], d: &d [*c,*c,*c,*c,*c,*c,*c,*c], e: &e [*d,*d,*d,*d,*d,*d,*d,*d], f: [*e,*e,*e,*e,*e,*e,*e,*e]}`,
    ),
  ],
];

unlisted.push([
  "colon",
  "needs quotes",
  (place, folder) =>
    place.file(
      `${folder}/SKILL.md`,
      "---\nname: colon\ndescription: Use: this\n---\n",
    ),
], [
  "tags",
  "invisible characters",
  (place, folder) =>
    place.file(
      `${folder}/SKILL.md`,
      '---\nname: tags\ndescription: "x\\u202ey"\n---\n',
    ),
]);

function withField(name: string, value: string) {
  return (place: Place) => {
    const text = `---\nname: ${name}\ndescription: d\nfield: ${value}\n---\n`;
    place.skill("home/.claude/skills", name, text);
  };
}

Deno.test("skills/list omits skills that hosts cannot load, and the tools still serve them", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "good");
  for (const [name, , make] of unlisted) {
    place.skill("home/.claude/skills", name);
    make(place, `home/.claude/skills/${name}`);
  }
  await using wire = new Wire(place);
  await wire.initialize();
  const entries = await listSkills(wire);
  assert.deepEqual(entries.map(({ uri }) => uri), ["skill://good/SKILL.md"]);
  for (const [name, reason] of unlisted) {
    const uri = skillUri(name, "SKILL.md");
    const { error } = await wire.ask(1, "skills/get", { uri });
    assert.equal(error!.code, -32602);
    assert.ok(error!.message.includes(reason), `${name}: ${error!.message}`);
    const call = { name: "skill", arguments: { name } };
    const { result } = await wire.ask(2, "tools/call", call);
    assert.equal(result.isError, undefined);
  }
  const args = ["--check", "--json"];
  const { stdout, code } = await runServer(place, { args });
  const report = JSON.parse(stdout) as CheckReport;
  assert.equal(code, 1);
  assert.equal(report.unlisted.length, unlisted.length);
  for (const [name, reason] of unlisted) {
    assert.ok(
      report.unlisted.some((skill) =>
        skill.name === name && skill.reason.includes(reason)
      ),
      name,
    );
    assert.ok(
      report.problems.some(({ file, reason: other, severity }) =>
        file.includes(`${SEPARATOR}${name}`) && other.includes(reason) &&
        severity === "error"
      ),
      name,
    );
  }
});

/** The part of the `--check --json` report that the test needs. */
interface CheckReport {
  readonly unlisted: { name: string; reason: string }[];
  readonly problems: { file: string; reason: string; severity: string }[];
}

Deno.test("skills/list includes a skill with 512 files and one with 16 MiB", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "many");
  for (let i = 1; i < 512; i++) place.file(`home/.claude/skills/many/${i}`, "");
  place.skill("home/.claude/skills", "much");
  const rest = skillMd("much").length;
  for (let i = 0; i < 16; i++) {
    const size = i === 0 ? 2 ** 20 - rest : 2 ** 20;
    place.file(`home/.claude/skills/much/${i}`, new Uint8Array(size));
  }
  await using wire = new Wire(place);
  await wire.initialize();
  const entries = await listSkills(wire);
  assert.deepEqual(
    entries.map(({ resources }) => [
      resources.length,
      resources.reduce((sum, { size }) => sum + size, 0),
    ]),
    [[512, skillMd("many").length], [17, 2 ** 24]],
  );
});

Deno.test("skills/list includes a skill whose folder has another name, and skips an invalid one", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "folder", skillMd("named-otherwise"));
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  place.skill(
    "home/.claude/skills",
    "number",
    "---\nname: 123\ndescription: d\n---\n",
  );
  await using wire = new Wire(place);
  await wire.initialize();
  const [entry, ...rest] = await listSkills(wire);
  assert.deepEqual(rest, []);
  assert.equal(entry!.uri, "skill://named-otherwise/SKILL.md");
  await verify(wire, entry!);
});

Deno.test("skills/list is paged, with each skill on exactly one page", {
  ignore: lacks("speed"),
}, async () => {
  using place = new Place();
  const count = 1_050;
  for (let i = 0; i < count; i++) {
    place.skill("home/.claude/skills", `s${i}`);
    place.file(`home/.claude/skills/s${i}/a.md`, "a");
  }
  await using wire = new Wire(place);
  await wire.initialize();
  const entries = await pages(wire, "skills/list");
  assert.equal(entries.length, 2);
  const uris = entries.flatMap(({ skills }) => skills)
    .map(({ uri, resources }: Entry) => {
      assert.equal(resources.length, 2);
      return uri;
    });
  assert.equal(new Set(uris).size, count);
  for (const method of ["skills/list", "resources/directory/read"]) {
    const params = { uri: "skill://s1", cursor: "none" };
    const { error } = await wire.ask(1, method, params);
    assert.equal(error!.code, -32602);
  }
});

Deno.test("a page of skills/list is as long as its entries, however long the instructions are", async () => {
  using place = new Place();
  for (let i = 0; i < 300; i++) {
    const text = skillMd(`s${i}`) + "More to do. ".repeat(100);
    place.skill("home/.claude/skills", `s${i}`, text);
  }
  await using wire = new Wire(place, { args: ["--no-watch"] });
  await wire.initialize();
  const [page, ...others] = await pages(wire, "skills/list");
  assert.equal(page!.skills.length, 300);
  assert.deepEqual(others, []);
});

Deno.test("skills/list and resources/read agree while files change", async () => {
  using place = new Place();
  const skill = "home/.claude/skills/git";
  place.skill("home/.claude/skills", "git");
  await using wire = new Wire(place, {
    args: ["--no-watch", "--refresh", "0"],
  });
  await wire.initialize();
  for (let round = 0; round < 20; round++) {
    // The size stays the same, and often the time does too, so only the content differs.
    place.file(`${skill}/a.md`, String(round % 10));
    place.file(`${skill}/SKILL.md`, skillMd("git", `Round ${round % 10}`));
    const [entry] = await listSkills(wire);
    assert.equal(entry!.frontmatter.description, `Round ${round % 10}`);
    await verify(wire, entry!);
  }
  place.skill("home/.claude/skills", "git", skillMd("renamed"));
  assert.deepEqual(await listSkills(wire), []);
  place.skill("home/.claude/skills", "git", "no frontmatter");
  assert.deepEqual(await listSkills(wire), []);
});

Deno.test("resources/directory/read lists the direct entries of a directory", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const read = async (uri: string) =>
    (await wire.ask(1, "resources/directory/read", { uri })).result;
  assert.deepEqual(await read("skill://git"), {
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
  assert.deepEqual(await read("skill://git/references/deep"), {
    resources: [{
      uri: "skill://git/references/deep/more.md",
      name: "more.md",
      mimeType: "text/markdown",
      size: 6,
    }],
  });
});

Deno.test("resources/directory/read returns an invalid-params error for anything but a directory", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  for (
    const uri of [
      "skill://none",
      "skill://git/",
      "skill://git/SKILL.md",
      "skill://git/none",
      "skill://git/references/",
      "skill://git/.git",
      "skill://git/..",
      "file:///etc",
    ]
  ) {
    const { error } = await wire.ask(1, "resources/directory/read", { uri });
    assert.deepEqual([error!.code, error!.data], [-32602, { uri }]);
  }
});
