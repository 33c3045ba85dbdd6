// The tool that runs commands, with the shell of Windows.
import assert from "node:assert/strict";
import { Session } from "./testing/client.ts";
import { flagsWith } from "./testing/environment.ts";
import { filesPlace, type Place } from "./testing/folders.ts";
import { needs } from "./testing/needs.ts";
import { message, Wire } from "./testing/server.ts";
import { eventually } from "./testing/waiting.ts";
import { attempt } from "../src/attempt.ts";
import { isThere, join } from "../src/fs/paths.ts";

const withCmd = needs("cmd");

const TOOL = "run_shell_command_op";

/** The directory of the skill in which the commands run. */
const skillDir = (place: Place) => join(place.home, ".claude", "skills", "git");

/** How the server is started with the tool that runs shell commands. */
const shellOptions = (run = "--allow-run=cmd") => ({
  args: ["--tools", "agentskills"],
  flags: flagsWith("--allow-read", "--allow-env", run),
});

/** A command whose third process writes a file and runs for a long time. */
const LONG =
  `cmd /c ""${Deno.execPath()}" eval "Deno.writeTextFileSync('started', ''); setInterval(Date, 1000)""`;

/** Waits until a long command has started. */
async function waitForStart(place: Place): Promise<void> {
  const file = join(skillDir(place), "started");
  await eventually(() => isThere(file), "the command to start");
}

/** Waits until no process runs in the skill's directory, which Windows keeps until then. */
async function waitForExit(place: Place): Promise<void> {
  const remove = () => {
    Deno.removeSync(skillDir(place), { recursive: true });
    return true;
  };
  await eventually(() => attempt(remove) === true, "the processes to exit");
}

withCmd.test(`${TOOL} runs a command in the skill's directory with cmd as it is written`, async () => {
  using place = filesPlace();
  await using session = await Session.open(place, shellOptions());
  const words = `"${Deno.execPath()}" eval "console.log(Deno.args)" "a b" c`;
  const results: [command: string, text: string | RegExp][] = [
    ["cd", `${skillDir(place)}\n\n`],
    ['echo "a  b" c', '"a  b" c\n\n'],
    ["echo one& echo two", "one\ntwo\n\n"],
    ["echo ^& 100%", "& 100%\n\n"],
    ["echo oops>&2", "\noops\n"],
    ["type references\\API.md", "# API\n"],
    ["exit 3", "\n\n[exit code 3]"],
    ["no-such-command", /\[exit code (?:1|9009)\]$/],
    [words, '[ "a b", "c" ]\n\n'],
    [
      "echo one\necho two",
      "Cannot run the command: cmd runs only one line; join the lines with &&",
    ],
    // The command has no input, so it does not wait.
    ["findstr x", /\[exit code 1\]$/],
  ];
  for (const [command, expected] of results) {
    const { text } = await session.text(TOOL, { skill_name: "git", command });
    const printed = text.replaceAll("\r\n", "\n");
    if (typeof expected === "string") assert.equal(printed, expected);
    else assert.match(printed, expected);
  }
});

const ENDS: Record<string, (wire: Wire) => unknown> = {
  "it is cancelled": (wire) =>
    wire.write(message(undefined, "notifications/cancelled", { requestId: 1 })),
  "the input of the server ends": (wire) => wire.endInput(),
};

for (const [when, end] of Object.entries(ENDS)) {
  withCmd.test(`${TOOL} ends the processes of a command on Windows when ${when}, and runs no other taskkill`, async () => {
    using place = filesPlace();
    for (const name of ["taskkill.bat", "taskkill.cmd"]) {
      place.file(`project/${name}`, "@echo > pwned\r\n");
    }
    await using wire = await Wire.open(place, shellOptions());
    const input = { skill_name: "git", command: LONG };
    const params = { name: TOOL, arguments: input };
    await wire.write(message(1, "tools/call", params));
    await waitForStart(place);
    await end(wire);
    await waitForExit(place);
    assert.ok(!isThere(join(place.project, "pwned")));
  });
}
