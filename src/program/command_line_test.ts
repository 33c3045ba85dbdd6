import assert from "node:assert/strict";
import { settingsFor } from "../../tests/testing/command_line.ts";
import { Place } from "../../tests/testing/place.ts";
import { runServer } from "../../tests/testing/server.ts";
import { UsageError } from "./command_line.ts";

/** Command lines, and what their messages say. */
const MISUSES: [args: string, message: string][] = [
  ["--\u001b[31m", 'Unknown option "--\\u001b[31m"'],
  ["--lst", 'Unknown option "--lst": did you mean --list?'],
  ["--print=cursor", 'Unknown option "--print": did you mean --print-config?'],
  [
    "--allow-run=/bin/sh",
    "Cannot use --allow-run after the module: it is an option of Deno; …",
  ],
  ["--port 80", "Cannot use --port: this program serves on stdin and …"],
  ["-list", 'Unknown option "-l": did you mean --list?'],
  ["--skill-dir", "--skill-dir requires a value: expected a folder"],
  ["--trust-links --list", "--trust-links requires a value: expected a folder"],
  ["--print-config", "--print-config requires a value: expected one of …"],
  ["list", 'Cannot find the folder "list": did you mean --list?'],
  ["check .", 'Cannot find the folder "check": did you mean --check?'],
  ["--refresh=\u00a0", 'Invalid --refresh "\u00a0": expected a number …'],
  ["--refresh=soon", 'Invalid --refresh "soon": expected a number of …'],
  ["--refresh=-1", 'Invalid --refresh "-1": expected a number of …'],
  ["--policy=", 'Invalid --policy "": expected the path of a file'],
  ["--tools=", 'Invalid --tools "": expected one of skill, skilljack, …'],
  ["--tools skiljack", 'Invalid --tools "skiljack": did you mean skilljack?'],
  ["--list \u00a0", 'Invalid DIR "\u00a0": expected a folder'],
  ["--check ", 'Invalid DIR "": expected a folder'],
  ["--check ,", 'Invalid DIR ",": expected a folder'],
  ["--ignore long", "--ignore requires --check"],
  ["--json", "--json requires --list or --check"],
  ["--as codex", "--as requires --list"],
  [
    "--list --as codex pdf",
    'Cannot find the folder "pdf", and --as shows all skills at once: …',
  ],
  [
    "--list --check --as codex",
    "--as and --check cannot be combined: use one of them",
  ],
  [
    "--check --print-config cline",
    "--print-config and --check cannot be combined: use one of them",
  ],
  ["--help=1", "--help takes no value: remove it"],
  ["--check --ignore x", 'Invalid --ignore "x": expected the name of a …'],
  ["--list=foo", "--list takes no value: remove it"],
  [
    "--print-config claude",
    'Invalid --print-config "claude": did you mean claude-code or claude-desktop?',
  ],
  [
    "--print-config constructor",
    'Invalid --print-config "constructor": expected one of claude-code, …',
  ],
  ["--profile cursor", 'Invalid --profile "cursor": expected one of …'],
];

Deno.test("the messages about invalid command lines say what to do", () => {
  for (const [args, message] of MISUSES) {
    const [start, end] = message.split("…");
    assert.throws(
      () => settingsFor(...args.split(" ")),
      (error: UsageError) => {
        assert.ok(error instanceof UsageError, args);
        const length = end === undefined ? Infinity : start!.length;
        assert.equal(error.message.slice(0, length), start);
        return true;
      },
    );
  }
});

Deno.test("an invalid command line prints only a message to stderr", async () => {
  using place = new Place();
  assert.deepEqual(await runServer(place, { args: ["--wrong"] }), {
    code: 2,
    stdout: "",
    stderr:
      'skill-server: Unknown option "--wrong" (add --help to see the options)\n',
  });
});
