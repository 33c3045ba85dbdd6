import assert from "node:assert/strict";
import { SkillRegistry } from "../../../mod.ts";
import { Session } from "../../../tests/testing/client.ts";
import { flagsWith } from "../../../tests/testing/environment.ts";
import { filesPlace, Place, skillMd } from "../../../tests/testing/folders.ts";
import { lacks } from "../../../tests/testing/needs.ts";
import { root } from "../../../tests/testing/registry.ts";
import { textOf, toolCaller } from "../../../tests/testing/tools.ts";
import { join } from "../../files/paths.ts";

Deno.test("load_skill_metadata_op returns the description and directory of skills in all subfolders", async () => {
  using place = new Place();
  const git = place.skill("skills", "git", skillMd("git", "Work with git"));
  const deep = place.skill("skills/a/b", "deep");
  const args = ["--tools", "agentskills", join(place.path, "skills")];
  await using session = await Session.open(place, { args });
  const { text } = await session.text("load_skill_metadata_op");
  assert.deepEqual(JSON.parse(text), {
    deep: { description: "About deep", skill_dir: deep },
    git: { description: "Work with git", skill_dir: git },
  });
});

Deno.test("load_skill_op and read_reference_file_op read a skill and its files", async () => {
  using place = filesPlace();
  const args = ["--tools", "agentskills"];
  await using session = await Session.open(place, { args });
  const load = await session.text("load_skill_op", { skill_name: "git" });
  assert.equal(load.text, skillMd("git", "Work with git"));
  const read = (file_name: string) =>
    session.call("read_reference_file_op", { skill_name: "git", file_name });
  assert.deepEqual((await read("references/API.md")).content, [
    { type: "text", text: "# API" },
  ]);
  const { content: [logo] } = await read("logo.png");
  assert.equal(logo!.type, "resource");
  const { content, isError } = await read("none.md");
  assert.equal(isError, true);
  assert.match(JSON.stringify(content), /the skill serves no such file/);
});

Deno.test("load_skill_metadata_op lists names that every object has, escapes what is invisible, and says when there is nothing", async () => {
  using place = new Place();
  const folder = place.folder("skills");
  using registry = new SkillRegistry([root(folder)], { log: () => {} });
  await registry.refresh();
  const isRemote = true;
  const call = toolCaller(registry, { toolset: "agentskills", isRemote });
  const list = async () => textOf(await call("load_skill_metadata_op"));
  assert.match(await list(), /^\{\}\nThere are no skills\./);
  const names = ["__proto__", "constructor", 'a"},"b'];
  for (const [index, name] of names.entries()) {
    const text = skillMd(JSON.stringify(name), '"a\\u200b\\n- b"');
    place.skill("skills", `${index}`, text);
  }
  place.skill(
    "skills",
    "hidden",
    skillMd("hidden").replace(
      "\n---\n",
      "\ndisable-model-invocation: true\n---\n",
    ),
  );
  await registry.refresh();
  const metadata: object = JSON.parse(await list());
  assert.deepEqual(Object.keys(metadata).sort(), names.sort());
  for (const { description, skill_dir } of Object.values(metadata)) {
    assert.equal(description, "a - b");
    // A client on another machine has no use for a path of this one.
    assert.match(skill_dir, /^skill:\/\/[^/]+\/$/);
  }
});

Deno.test("load_skill_op and read_reference_file_op report to the model what they cannot read", async () => {
  using place = filesPlace();
  const skills = join(place.home, ".claude", "skills");
  using registry = new SkillRegistry([root(skills)], { log: () => {} });
  await registry.refresh();
  const call = toolCaller(registry, { toolset: "agentskills" });
  const load = (skill_name: string) => call("load_skill_op", { skill_name });
  const read = (file_name: string, skill_name = "git") =>
    call("read_reference_file_op", { skill_name, file_name });
  for (const name of ["", "none", "hidden", "../git", "__proto__"]) {
    for (const result of [await load(name), await read("a.md", name)]) {
      assert.equal(result.isError, true);
      assert.ok(!textOf(result).includes(place.path));
    }
  }
  for (const file of ["", ".", "references", ".env", "../hidden/a.md", "\0"]) {
    const result = await read(file);
    assert.equal(result.isError, true, file);
    assert.match(textOf(result), /^Cannot read /);
  }
});

/** How the server is started with the tool that runs shell commands. */
const shellOptions = (run = "--allow-run", args: string[] = []) => ({
  args: ["--tools", "agentskills", ...args],
  flags: flagsWith("--allow-read", "--allow-env", run),
});

const shell = (command: string) =>
  ["run_shell_command_op", { skill_name: "git", command }] as const;

Deno.test(
  "run_shell_command_op exists only if Deno is allowed to run the shell, and declares its effects",
  { ignore: lacks("sh") },
  async () => {
    using place = filesPlace();
    for (const run of ["--allow-run", "--allow-run=/bin/sh"]) {
      await using session = await Session.open(place, shellOptions(run));
      const { tools } = await session.client.listTools();
      assert.deepEqual(tools.at(-1)!.annotations, {
        title: "Run Shell Command",
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      });
    }
    const args = ["--tools", "agentskills"];
    await using session = await Session.open(place, { args });
    const { tools } = await session.client.listTools();
    assert.ok(!tools.some(({ name }) => name === "run_shell_command_op"));
    await session.stderr.take(
      (line) =>
        line.includes("run_shell_command_op") && line.includes("--allow-run"),
      "the line about the tool",
    );
    await assert.rejects(session.call(...shell("true")), /Unknown tool/);
    await using other = await Session.open(place, {
      args: ["--tools", "skilljack"],
      flags: flagsWith("--allow-read", "--allow-env", "--allow-run"),
    });
    await assert.rejects(other.call(...shell("true")), /Unknown tool/);
  },
);

Deno.test(
  "--auto-install-deps installs what Python files import before a command that contains py",
  { ignore: lacks("sh") },
  async () => {
    using place = filesPlace();
    const log = join(place.path, "log");
    const bin = place.folder("bin");
    for (const tool of ["pipreqs", "pip"]) {
      const file = place.file(
        `bin/${tool}`,
        `#!/bin/sh\necho ${tool} "$@" >> ${log}\n`,
      );
      Deno.chmodSync(file, 0o755);
    }
    const options = {
      ...shellOptions("--allow-run", ["--auto-install-deps"]),
      env: { PATH: `${bin}:${Deno.env.get("PATH")}` },
    };
    await using session = await Session.open(place, options);
    assert.equal(
      (await session.text(...shell("echo plain"))).text,
      "plain\n\n",
    );
    assert.throws(() => Deno.readTextFileSync(log), Deno.errors.NotFound);
    const { text } = await session.text(...shell('echo "a.py"; exit 4'));
    assert.equal(text, "a.py\n\n\n[exit code 4]");
    assert.match(
      Deno.readTextFileSync(log),
      /^pipreqs --force --savepath \S+ \.\npip install -r \S+\n$/,
    );
    place.file("bin/pip", "#!/bin/sh\necho offline\nexit 1\n");
    assert.equal(
      (await session.text(...shell("echo a.py"))).text,
      "a.py\n\nCannot install the packages that the Python files import:\noffline\n",
    );
  },
);
