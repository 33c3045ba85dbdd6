import assert from "node:assert/strict";
import { SkillFileError } from "../../mod.ts";
import { ODD } from "../../tests/testing/environment.ts";
import {
  LaterClock,
  OpenSpy,
  Place,
  runSync,
  skillMd,
} from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import {
  listPaths,
  listSkillFiles,
  openRegistry,
  readSkillFile,
  scanSkill,
} from "../../tests/testing/registry.ts";
import { join } from "./paths.ts";

Deno.test(
  "ServedFolder.list() lists the files of a skill, and ServedFolder.read() reads these and none outside",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const secret = place.file("secret/key.txt", "secret");
    place.skill("skills", "git");
    place.file("skills/git/references/API.md", "api");
    place.file("skills/git/scripts/nested/SKILL.md", skillMd("nested"));
    place.file(`skills/git/größe #1${ODD}.txt`, "odd");
    place.file("skills/git/large.bin", new Uint8Array(2 ** 20 + 1));
    place.file("skills/git/.env", "hidden");
    place.file("skills/git/.git/config", "hidden");
    place.file("skills/git/node_modules/x/index.js", "hidden");
    place.file("skills/git/lib/__pycache__/x.pyc", "hidden");
    place.link("references/API.md", "skills/git/alias.md");
    place.link("references", "skills/git/docs");
    place.link(".", "skills/git/self");
    place.link("..", "skills/git/lib/up");
    place.link(secret, "skills/git/out.txt");
    place.link(join(secret, ".."), "skills/git/outside");
    place.link(".env", "skills/git/visible.txt");
    place.link("nowhere", "skills/git/dangling");
    const skill = await scanSkill(join(place.path, "skills"));
    const expected = [
      "SKILL.md",
      "alias.md",
      "docs/API.md",
      `größe #1${ODD}.txt`,
      "references/API.md",
      "scripts/nested/SKILL.md",
    ];
    assert.deepEqual(await listPaths(skill), expected);
    for (const { path, size, version } of await listSkillFiles(skill)) {
      const file = readSkillFile(skill, path);
      const read = [file.path, file.size, file.version];
      assert.deepEqual(read, [path, size, version]);
    }
    for (const path of ["./alias.md", "docs//API.md", "lib/../alias.md"]) {
      assert.equal(readSkillFile(skill, path).text, "api");
    }
    for (
      const path of [
        ".env",
        ".git/config",
        "node_modules/x/index.js",
        "lib/__pycache__/x.pyc",
        "out.txt",
        "outside/key.txt",
        "visible.txt",
        "dangling",
        "none.md",
        "SKILL.md/x",
        "self/references/API.md",
        "../git/SKILL.md",
        "references/../../git/SKILL.md",
        secret,
        "a\0b",
      ]
    ) {
      assert.throws(() => readSkillFile(skill, path), (error) => {
        assert.ok(error instanceof SkillFileError, `${path}: ${error}`);
        assert.match(
          error.message,
          /^Cannot read ".*": the (?:skill serves no such file|path leads outside)/,
        );
        assert.equal(error.rule, "file-missing");
        return true;
      });
    }
    assert.throws(
      () => readSkillFile(skill, "large.bin"),
      /it has more than 1 MiB/,
    );
    assert.throws(() => readSkillFile(skill, "references"), /it is a folder/);
    assert.throws(() => readSkillFile(skill, ""), /it is a folder/);
  },
);

Deno.test("ServedFolder.read() returns the exact text, and no text for bytes that are not valid UTF-8", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/bom.md", "\ufeffa\r\nb");
  place.file("skills/git/latin1.txt", new Uint8Array([0x67, 0xfc]));
  place.file("skills/git/empty", "");
  const skill = await scanSkill(join(place.path, "skills"));
  assert.equal(readSkillFile(skill, "bom.md").text, "\ufeffa\r\nb");
  assert.equal(readSkillFile(skill, "empty").text, "");
  const { text, bytes } = readSkillFile(skill, "latin1.txt");
  assert.deepEqual([text, [...bytes]], [undefined, [0x67, 0xfc]]);
});

Deno.test("ServedFolder.read() and ServedFolder.list() reach ten levels deep", async () => {
  using place = new Place();
  const skillFolder = place.skill("skills", "git");
  const ten = "a/b/c/d/e/f/g/h/i/ten.md";
  const eleven = "a/b/c/d/e/f/g/h/i/j/eleven.md";
  place.file(`skills/git/${ten}`, "10");
  place.file(`skills/git/${eleven}`, "11");
  const skill = await scanSkill(join(skillFolder, ".."));
  assert.deepEqual(await listPaths(skill), ["SKILL.md", ten]);
  assert.equal(readSkillFile(skill, ten).text, "10");
  assert.throws(() => readSkillFile(skill, eleven), SkillFileError);
});

Deno.test(
  "ServedFolder.list() omits FIFOs, and ServedFolder.read() refuses them",
  { ignore: lacks("fifos") },
  async () => {
    using place = new Place();
    const folder = place.skill("skills", "git");
    runSync("mkfifo", join(folder, "fifo"));
    const skill = await scanSkill(join(place.path, "skills"));
    assert.deepEqual(await listPaths(skill), ["SKILL.md"]);
    assert.throws(() => readSkillFile(skill, "fifo"), /not a regular file/);
  },
);

Deno.test("ServedFolder.list() terminates in a maze of links", {
  ignore: lacks("links"),
}, async () => {
  using place = new Place();
  place.skill("skills", "maze");
  const rooms = Array.from({ length: 10 }, (_, index) => `room${index}`);
  for (const from of rooms) {
    for (const to of rooms) place.link(`../${to}`, `skills/maze/${from}/${to}`);
  }
  const skill = await scanSkill(join(place.path, "skills"));
  assert.deepEqual(await listPaths(skill), ["SKILL.md"]);
});

Deno.test(
  "a mounted ConfigMap is served, whose files are links into a hidden folder beside them",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const mount = "skills/git";
    place.file(`${mount}/..2026_11_23/SKILL.md`, skillMd("git"));
    place.file(`${mount}/..2026_11_23/docs/help.md`, "Help");
    place.link("..2026_11_23", `${mount}/..data`);
    place.link("..data/SKILL.md", `${mount}/SKILL.md`);
    place.link("..data/docs", `${mount}/docs`);
    const skill = await scanSkill(join(place.path, "skills"));
    assert.deepEqual(await listPaths(skill), ["SKILL.md", "docs/help.md"]);
    assert.equal(readSkillFile(skill, "docs/help.md").text, "Help");
    assert.throws(
      () => readSkillFile(skill, "..data/SKILL.md"),
      /no such file/,
    );
  },
);

Deno.test("ServedFolder.read() remembers a settled file, and returns bytes that its caller may change", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/a.md", "abc");
  using registry = await openRegistry(join(place.path, "skills"));
  const skill = registry.find("git")!;
  const read = async () => (await registry.readFile(skill, "a.md")).bytes;
  using opens = new OpenSpy();
  for (let round = 0; round < 2; round++) await read();
  assert.equal(opens.count, 2);
  // Later, the file is settled.
  using _clock = new LaterClock();
  (await read()).fill(0);
  assert.equal(opens.count, 3);
  assert.equal(new TextDecoder().decode(await read()), "abc");
  assert.equal(opens.count, 3);
});

Deno.test("ServedFolder.read() and ServedFolder.digest() remember only what is settled, in folders that are", async () => {
  using place = new Place();
  const folder = place.skill("skills", "git");
  const file = place.file("skills/git/a.md", "abc");
  const above = place.folder("skills");
  using registry = await openRegistry(above);
  const skill = registry.find("git")!;
  using opens = new OpenSpy();
  /** Counts how often the file is opened while something changed in the last two seconds. */
  const opensWhile = async (changed?: string) => {
    if (changed) Deno.utimeSync(changed, Date.now() / 1000, Date.now() / 1000);
    // The digest of another version would not be found anyway.
    const { files } = await registry.listFiles(skill);
    const listed = files.find(({ path }) => path === "a.md")!;
    opens.count = 0;
    for (let round = 0; round < 2; round++) {
      await registry.readFile(skill, "a.md");
      await registry.digest(skill, listed);
    }
    if (changed) Deno.utimeSync(changed, 1, 1);
    return opens.count;
  };
  using _clock = new LaterClock();
  for (const changed of [file, folder, above]) {
    assert.equal(await opensWhile(changed), 4, changed);
  }
  // Only the first read opens it.
  assert.equal(await opensWhile(), 1);
});

Deno.test({
  name:
    "ServedFolder.read() remembers nothing of a project in folders that Deno may not look at",
  permissions: { read: [Deno.cwd()], env: true, sys: true },
  fn: async () => {
    const skills = join(Deno.cwd(), "testdata", "skills");
    using _clock = new LaterClock();
    for (
      const [project, expected] of [["testdata", 2], ["docs", 1]] as const
    ) {
      using registry = await openRegistry(skills, {
        workingDirectory: join(Deno.cwd(), project),
        homeDirectory: join(Deno.cwd(), "src"),
      });
      using opens = new OpenSpy();
      for (let round = 0; round < 2; round++) {
        await registry.readFile(registry.find("git")!, "SKILL.md");
      }
      assert.equal(opens.count, expected, project);
    }
  },
});
