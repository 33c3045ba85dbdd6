import assert from "node:assert/strict";
import { printedLaunch } from "../../tests/testing/command_line.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { runServer, Wire } from "../../tests/testing/server.ts";
import { profileOfOption } from "../views/clients.ts";

/** Creates skills whose list is longer than the part of a description that Claude Code shows. */
function skillsPlace(): Place {
  const place = new Place();
  for (let i = 0; i < 20; i++) {
    const text = skillMd(`skill-${i}`, `About ${"many ".repeat(50)}things`);
    place.skill("home/.claude/skills", `skill-${i}`, text);
  }
  place.skill("home/.agents/skills", "installed");
  place.skill("home/more/group", "deep");
  place.file("project/policy.yaml", "rules: [{ skill: skill-1*, state: off }]");
  return place;
}

/** Runs `--list --as CLIENT` and returns what it prints. */
async function listAs(
  place: Place,
  client: string,
  ...args: string[]
): Promise<string> {
  const { code, stdout, stderr } = await runServer(place, {
    args: ["--list", "--as", client, ...args],
  });
  assert.deepEqual([code, stderr], [0, ""]);
  return stdout;
}

/** Returns the passages that `--list --as CLIENT` shows. */
async function passagesFor(
  place: Place,
  client: string,
  ...args: string[]
): Promise<{ title: string; text: string }[]> {
  return JSON.parse(await listAs(place, client, "--json", ...args));
}

/**
 * Returns the instructions and the texts of the tools that a server process sends to a
 * client. The client starts it as its printed entry says.
 */
async function servedTo(
  place: Place,
  client: string,
  args: string[] = [],
): Promise<{ instructions: string; texts: string[] }> {
  const launch = client === "default"
    ? undefined
    : await printedLaunch(place, { args }, client);
  await using wire = new Wire(place, launch && { launch });
  const name = profileOfOption(client).clientName || "any";
  const { result: { instructions } } = await wire.initialize(name);
  // On a busy machine, the first scan takes longer than the handshake waits for it.
  if (/: the tool \w+ lists them\.$/m.test(instructions)) {
    return await servedTo(place, client, args);
  }
  const { result: { tools } } = await wire.ask(1, "tools/list");
  // deno-lint-ignore no-explicit-any -- a tool's entry as the server sends it
  const texts = tools.flatMap(({ description, inputSchema }: any) => [
    description,
    ...Object.values<{ description: string }>(inputSchema.properties)
      .map(({ description }) => description),
  ]);
  return { instructions, texts };
}

const nothing = () => [];
const firstLine = (text: string) => [text.split("\n")[0]!];

/** A client, options, the part of the instructions that the model sees, and what is listed. */
type View = [string, string[], (text: string) => string[], number, string];

const VIEWS: View[] = [
  ["default", [], nothing, 20, "skill"],
  ["claude-code", [], (text) => [text], 21, "skill"],
  ["claude-desktop", [], nothing, 21, "skilljack"],
  ["codex", [], firstLine, 21, "skill"],
  ["codex", ["--profile", "default"], firstLine, 21, "skill"],
  ["codex", ["--tools", "reference"], firstLine, 21, "reference"],
  ["codex", ["--tools", "agentskills"], firstLine, 21, "agentskills"],
  ["codex", ["--skill-dir", "~/more"], firstLine, 22, "skill"],
  ["codex", ["--policy", "policy.yaml"], firstLine, 10, "skill"],
];

for (const [client, args, shown, skills, toolset] of VIEWS) {
  Deno.test(`--list --as ${[client, ...args].join(" ")} shows what the model sees`, async () => {
    using place = skillsPlace();
    const { instructions, texts } = await servedTo(place, client, args);
    const passages = await passagesFor(place, client, ...args);
    assert.deepEqual(
      passages.map(({ text }) => text),
      [...shown(instructions), ...texts],
    );
    const report = await listAs(place, client, ...args);
    for (const { title, text } of passages) {
      const tokens = Math.ceil(text.length / 4);
      const head =
        `\n\n${title}: ${text.length} characters, about ${tokens} tokens\n`;
      assert.ok(report.includes(head + text.replaceAll(/^/gm, "  ")), head);
    }
    const listed = `${skills} skills, toolset ${toolset}`;
    const start = new RegExp(`^What the model sees in .*\\(${listed}\\b`);
    assert.match(report, start);
    assert.match(report, /\nTotal: \d+ characters, about \d+ tokens \(estim/);
  });
}
