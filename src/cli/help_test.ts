import assert from "node:assert/strict";
import {
  DEFAULT_FOLDERS,
  REPOSITORY,
} from "../../tests/testing/environment.ts";
import { join } from "../fs/paths.ts";
import { OPTIONS, VARIABLES } from "../program/command_line.ts";
import { CLIENT_NAMES } from "../views/clients.ts";
import { formatHelp, listOptionHelp } from "./help.ts";

Deno.test("formatHelp() shows every option, every client, and the default folders", () => {
  const text = formatHelp();
  for (const name of Object.keys(OPTIONS)) {
    assert.match(text, new RegExp(`^  --${name}\\b`, "m"));
  }
  for (const name of CLIENT_NAMES) assert.ok(text.includes(` ${name}`), name);
  const dirs = DEFAULT_FOLDERS.join(", ");
  assert.ok(text.includes(`it searches\n${dirs}.\n`), text);
});

Deno.test("docs/options.md says what --help says of each option and variable", () => {
  const listed = Deno.readTextFileSync(join(REPOSITORY, "docs", "options.md"))
    .replaceAll(/\s+/g, " ");
  const all = [...listOptionHelp(), ...listOptionHelp(true)];
  const options = all.map(([usage, help]) =>
    `- ${usage.split(", ").map((text) => `\`${text}\``).join(", ")}: ${help} `
  );
  const variables = Object.entries(VARIABLES).map(([name, help]) =>
    `- \`${name}\`: ${help} `
  );
  for (const item of [...options, ...variables]) {
    assert.ok(listed.includes(item), item);
  }
  const { length } = listed.match(/- `/g)!;
  assert.equal(length, options.length + variables.length);
});
