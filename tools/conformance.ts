/**
 * Runs the official conformance suite against the HTTP server in both protocol
 * eras. `conformance.yaml` lists the scenarios that do not apply, and why. All
 * other scenarios must pass.
 *
 *     deno task conformance
 */

import { join, resolve } from "../src/fs/paths.ts";
import { importFlags } from "./import_flags.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";

/** The protocol revisions whose requirements are tested. */
const REVISIONS = ["2025-11-25", "2026-07-28"];

/** The scenarios of the Skills extension, which no revision requires. */
const SKILL_SCENARIOS = [
  "sep-2640-skills-enumeration",
  "sep-2640-skills-manifest",
  "sep-2640-skills-directory",
];

/** The prompts that the suite requests by name. */
const PROMPTS = [
  "test_simple_prompt",
  "test_prompt_with_arguments",
  "test_prompt_with_embedded_resource",
  "test_prompt_with_image",
];

/** Creates the skills that the suite needs. */
function createSkills(dir: string): void {
  for (const name of ["alpha", "beta", ...PROMPTS]) {
    const skill = join(dir, name);
    Deno.mkdirSync(join(skill, "references", "deep"), { recursive: true });
    const text = `---\nname: ${name}\ndescription: About ${name}\n---\n`;
    Deno.writeTextFileSync(join(skill, "SKILL.md"), text);
    Deno.writeTextFileSync(join(skill, "references", "a.md"), "# A\n");
    Deno.writeTextFileSync(join(skill, "references", "deep", "b.md"), "# B\n");
    Deno.writeFileSync(join(skill, "logo.png"), new Uint8Array([0x89, 0xff]));
  }
}

/** Creates the list of the scenarios that a revision does not pass, and returns its path. */
function createExpected(revision: string, dir: string): string {
  const scenarios = join(import.meta.dirname!, "conformance.yaml");
  const text = Deno.readTextFileSync(scenarios);
  const file = join(dir, `${revision}.yaml`);
  // Clients whose name is unknown, as in the legacy era, get prompts as text.
  const more = revision === "2025-11-25"
    ? "  - prompts-get-embedded-resource\n"
    : "";
  Deno.writeTextFileSync(file, text + more);
  return file;
}

/** Starts the server and returns its process and its URL. */
async function startServer(
  dir: string,
): Promise<{ process: Deno.ChildProcess; url: string }> {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "serve",
      "--host",
      "127.0.0.1",
      "--port",
      "0",
      "--allow-read",
      "--allow-env",
      ...importFlags(),
      resolve(import.meta.dirname!, "..", "http.ts"),
      // This toolset has prompts with embedded resources.
      "--tools",
      "skilljack",
      dir,
    ],
    stderr: "piped",
  }).spawn();
  const [lines, rest] = process.stderr.tee();
  rest.pipeTo(Deno.stderr.writable, { preventClose: true });
  let text = "";
  for await (const part of lines.pipeThrough(new TextDecoderStream())) {
    text += part;
    const [url] = /http:\S+\/mcp/.exec(text) ?? [];
    if (url !== undefined) return { process, url };
  }
  throw new Error("The server did not start");
}

/** Runs part of the suite and returns whether the results are as expected. */
function run(url: string, options: string[]): boolean {
  console.log(`\n# ${options.join(" ")}`);
  const { success } = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", SUITE, "server", "--url", url, ...options],
    cwd: dir,
    stdout: "inherit",
    stderr: "inherit",
  }).outputSync();
  return success;
}

const dir = Deno.makeTempDirSync();
createSkills(dir);
const { process, url } = await startServer(dir);
const results = REVISIONS.flatMap((revision) => [
  run(url, [
    "--requirements",
    revision,
    "--expected-failures",
    createExpected(revision, dir),
  ]),
  ...SKILL_SCENARIOS.map((scenario) =>
    run(url, ["--scenario", scenario, "--spec-version", revision, "--force"])
  ),
]);
process.kill("SIGTERM");
await process.status;
Deno.removeSync(dir, { recursive: true });
Deno.exit(results.every(Boolean) ? 0 : 1);
