// Each command of the pages works, or a row says why it is not tried here.
import assert from "node:assert/strict";
import config from "../deno.json" with { type: "json" };
import { join } from "../src/fs/paths.ts";
import { listCommands, PAGES } from "./testing/docs.ts";
import {
  environment,
  HTTP,
  IMPORTS,
  MOD,
  preload,
  REPOSITORY,
} from "./testing/environment.ts";
import { needs } from "./testing/needs.ts";
import { Place } from "./testing/place.ts";
import { linesOf } from "./testing/server.ts";
import { within } from "./testing/waiting.ts";

const withShAndLinks = needs("sh", "links");

preload(MOD, HTTP);

/** Which commands another test runs, by its file. */
const RUN_BY: Readonly<Record<string, RegExp[]>> = {
  "src/check/report_test.ts": [
    /^for skill in /,
    /^\[ \$# = 0 \]/,
  ],
  "tests/docs_facts_test.ts": [/^curl -s http:\/\/127\.0\.0\.1:8000\/mcp /],
  "src/views/clients_test.ts": [/^mkdir -p \S+ && ln -s /],
  "tests/release/launch_test.ts": [
    /\bdeno task (?:bundle$|compile\b)/,
    /dist\/skill_server\.js --list$/,
  ],
  "tests/release/mcpb_test.ts": [/\bdeno task mcpb /],
  "deno.json": [/^deno run --allow-read --allow-env main\.ts$/],
  ".ci/run": [/\bdeno task (?:check|test|test:release|locked)$/],
};

/** Which commands no test runs, by the reason. */
const NOT_RUN: Readonly<Record<string, RegExp[]>> = {
  "the package is not on JSR": [
    /^deno (?:add|cache|doc) jsr:/,
    /^deno install --entrypoint /,
  ],
  "it needs Docker": [/^docker (?:build|run) .* /],
  "it changes the system, or needs its service manager": [
    /^sudo /,
    /\| sudo /,
    /^\/usr\/local\/bin\/deno serve /,
    /^(?:journalctl|launchctl|setx|systemctl) /,
  ],
  "it needs a server with a domain, or one at a port that may be taken": [
    /^curl -s .*https:\/\/skills\.example\.com\/mcp/,
    /^curl -fsS http:\/\/127\.0\.0\.1:8000\/health$/,
  ],
  "it takes long, and says how fast or how often": [
    /^deno task bench$/,
    /^\.ci\/run$/,
  ],

  "it is the beginning of a command, or has a part to fill in": [
    /…/,
    /<old version>/,
    /^(?:deno run --allow-read|docker run -i)$/,
  ],
  "it is not a command": [
    / [←→] /,
    /^Cannot read "notes\.md": /,
  ],
};

const COMMANDS = [...new Set(PAGES.flatMap(listCommands))];

const LISTED = [...Object.values(RUN_BY), ...Object.values(NOT_RUN)].flat();

Deno.test("each row of commands that are not run here is about a command of a page", () => {
  const unused = LISTED.filter((row) => !COMMANDS.some((it) => row.test(it)));
  assert.deepEqual(unused, []);
});

/** Writes a program that runs the commands of the pages with this repository. */
function writePrograms(place: Place): string {
  const deno = `#!/bin/sh
for word do
  shift
  case $word in
    jsr:${config.name}*/http) word='${HTTP}' ;;
    jsr:${config.name}*) word='${MOD}' ;;
  esac
  set -- "$@" "$word"
done
case "$*" in
  *--import-map=*) ;;
  run\\ *|doc\\ *) first=$1; shift; set -- "$first" ${IMPORTS.join(" ")} "$@" ;;
  serve\\ *) shift; set -- serve --port=0 ${IMPORTS.join(" ")} "$@" ;;
esac
exec '${Deno.execPath()}' "$@"
`;
  const npx =
    '#!/bin/sh\ncase "$1 $2" in "-y deno"*) shift 2; exec deno "$@" ;; esac\n';
  const installed =
    `#!/bin/sh\nexec deno run --no-config --allow-read --allow-env '${MOD}' "$@"\n`;
  const programs = { deno, npx, "skill-server": installed };
  for (const [name, script] of Object.entries(programs)) {
    Deno.chmodSync(place.file(`bin/${name}`, script), 0o755);
  }
  return join(place.path, "bin");
}

/** Starts a command of a page, in a project with skills, or in the repository if it is for a clone. */
function startCommand(command: string, place: Place): Deno.ChildProcess {
  place.skill("home/.claude/skills", "git");
  place.skill("project/skills", "pdf");
  place.dir("home/team-skills");
  place.link(REPOSITORY, "project/skill-server");
  const isForClone = /\bdeno task\b/.test(command);
  // Another port may be taken.
  const script = command.replace(/ --port \d+/, "")
    .replace(/\bdeno task serve\b/, "$& --port 0")
    .replaceAll("/opt/skill-server", REPOSITORY);
  return new Deno.Command("sh", {
    args: ["-c", script.startsWith("export ") ? script : `exec ${script}`],
    cwd: isForClone ? REPOSITORY : place.project,
    env: {
      ...environment,
      HOME: place.home,
      PATH: `${writePrograms(place)}:${Deno.env.get("PATH")}`,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

for (const command of COMMANDS) {
  if (LISTED.some((row) => row.test(command))) continue;
  const pages = PAGES.filter((page) => listCommands(page).includes(command));
  withShAndLinks.test(`the command of ${pages.join(" and ")} works: ${command}`, async () => {
    using place = new Place();
    const process = startCommand(command, place);
    const output = new Response(process.stdout).text();
    const lines: string[] = [];
    for await (const line of linesOf(process.stderr)) {
      lines.push(line);
      if (line.includes("Serving http:")) process.kill("SIGTERM");
    }
    const { code } = await within(process.status, "the command to end");
    assert.equal(code, 0, [await output, ...lines].join("\n"));
  });
}
