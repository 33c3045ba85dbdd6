/**
 * Compiles `dist/skill_server.js` into an executable that does not need Deno.
 *
 *     deno run --allow-all tools/compile.ts [FLAG...]
 *
 * The flags are those of `deno compile`. Without `--output`, the executable is
 * `dist/skill-server`.
 */

const hasOutput = Deno.args.some((flag) => /^(?:-o|--output)/.test(flag));
const output = hasOutput ? [] : ["--output", "dist/skill-server"];
const permissions = ["--allow-read", "--allow-env"];
const flags = ["--no-config", ...permissions, ...output, ...Deno.args];
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["compile", ...flags, "dist/skill_server.js"],
}).spawn().status;
Deno.exit(code);
