import assert from "node:assert/strict";
import { environment, REPOSITORY } from "../../tests/testing/environment.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { runScript, runServer } from "../../tests/testing/server.ts";
import { dirname, join } from "../fs/paths.ts";
import { quoteWord } from "./running_program.ts";

const withSh = needs("sh");
const withShAndOwnImports = needs("sh", "ownImports");

withSh.test("quoteWord() writes any path as one word for a shell", async () => {
  using place = new Place();
  const paths = ["$(touch gone)", "it's `touch gone`", 'a "b" !x', "a;b&c"];
  const words = ["~/a,b:c", ...paths].map(quoteWord);
  const { stdout } = await runScript(
    place,
    `printf '%s\\n' ${words.join(" ")}`,
  );
  const expanded = `${place.home}/a,b:c`;
  assert.deepEqual(stdout.trimEnd().split("\n"), [expanded, ...paths]);
  assert.deepEqual([...Deno.readDirSync(place.project)], []);
});

withShAndOwnImports.test("the printed and the installed command run nothing of a project", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "here");
  place.file("project/package.json", "{}");
  const imports = { "npm:zod": "./evil.ts", "npm:zod@^4/mini": "./evil.ts" };
  place.file("project/deno.json", JSON.stringify({ imports }));
  place.file("project/evil.ts", 'console.log("evil");');
  const program = place.file(
    "project/node_modules/.bin/deno",
    "#!/bin/sh\necho evil\n",
  );
  Deno.chmodSync(program, 0o755);
  const { stdout: help } = await runServer(place, { args: ["--help"] });
  const [, printed = ""] = /^Examples:\n {2}(.*)$/m.exec(help)!;
  const root = join(place.path, "installed");
  const install = await new Deno.Command(Deno.execPath(), {
    args: ["task", "install"],
    cwd: REPOSITORY,
    env: { ...environment, HOME: place.home, DENO_INSTALL_ROOT: root },
  }).output();
  assert.equal(install.code, 0, new TextDecoder().decode(install.stderr));
  const dirs = `${join(root, "bin")}:${dirname(Deno.execPath())}`;
  const installed = `PATH='${dirs}':$PATH skill-server --list`;
  for (const command of [printed, installed]) {
    const { stdout, stderr } = await runScript(place, command);
    assert.equal(stderr, "");
    assert.match(stdout, /^\.claude\/skills .*\n {2}here +1 file$/m);
    assert.doesNotMatch(stdout, /evil/);
  }
});
