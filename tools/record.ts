/**
 * Draws what `--list` and `--check` print for a few skills as an SVG image. A test
 * compares the image with the present output.
 *
 *     deno task record
 */

import { join } from "../src/fs/paths.ts";
import { escapeXml } from "../src/text.ts";
import { importFlags } from "./import_flags.ts";

const ROOT = join(import.meta.dirname!, "..");

const MOD = join(ROOT, "mod.ts");

const FILE = join(ROOT, "docs", "terminal.svg");

const FONT_SIZE = 13;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 7.83;
const PADDING = 16;

/** The files that the recorded commands find, relative to the home directory. */
const SKILLS: Record<string, string> = {
  ".claude/skills/pdf/SKILL.md": `---
name: pdf
description: Fill in, split, and merge PDF files
---

For forms, see forms.md.
`,
  ".claude/skills/pdf/forms.md": "Fill in the fields by name.\n",
  ".claude/skills/release-notes/SKILL.md": `---
name: release-notes
description: Write release notes from the commits since the last tag
---

List the changes that users notice.
`,
  "app/.claude/skills/deploy/SKILL.md": `---
name: deploy
descripton: Roll out a release
---

Run the pipeline.
`,
};

/** Runs the commands in a home directory with skills, and returns the image. */
export async function record(imports: readonly string[]): Promise<string> {
  const home = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    for (const [path, text] of Object.entries(SKILLS)) {
      const file = join(home, path);
      Deno.mkdirSync(join(file, ".."), { recursive: true });
      Deno.writeTextFileSync(file, text);
    }
    const frames: Frame[] = [];
    for (const option of ["--list", "--check"]) {
      const output = await run(option, { home, imports });
      frames.push({ command: `skill-server ${option}`, output });
    }
    return createSvg(frames);
  } finally {
    Deno.removeSync(home, { recursive: true });
  }
}

/** A command and what it printed. */
interface Frame {
  readonly command: string;
  readonly output: string;
}

async function run(
  option: string,
  { home, imports }: { home: string; imports: readonly string[] },
): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-read", "--allow-env", ...imports, MOD, option],
    cwd: join(home, "app"),
    env: { HOME: home, NO_COLOR: "1", GITHUB_ACTIONS: "" },
  }).output();
  const decoder = new TextDecoder();
  // Both commands print to stdout, also if there are problems.
  if (stdout.length === 0) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout).trimEnd();
}

function createSvg(frames: readonly Frame[]): string {
  const lines = frames.flatMap(({ command, output }) => [
    `$ ${command}`,
    ...output.split("\n"),
    "",
  ]).slice(0, -1);
  const columns = Math.max(...lines.map((line) => line.length));
  const width = Math.ceil(columns * CHARACTER_WIDTH) + 2 * PADDING;
  const height = lines.length * LINE_HEIGHT + 2 * PADDING;
  const texts = lines.flatMap((line, index) => {
    const y = PADDING + FONT_SIZE + index * LINE_HEIGHT;
    const kind = line.startsWith("$ ") ? ` class="command"` : "";
    return line === ""
      ? []
      : [`<text${kind} x="${PADDING}" y="${y}">${escapeXml(line)}</text>`];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}">
<title>What skill-server --list and --check print</title>
<style>
rect { fill: #f6f8fa; stroke: #d0d7de }
text { fill: #24292f; white-space: pre }
.command { font-weight: 600 }
@media (prefers-color-scheme: dark) { rect { fill: #151b23; stroke: #3d444d } text { fill: #e6edf3 } }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join("\n")}
</svg>
`;
}

if (import.meta.main) {
  Deno.writeTextFileSync(FILE, await record(importFlags()));
}
