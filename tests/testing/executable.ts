// Whether executables can be created.
import { Place } from "./folders.ts";

let isCompiling: boolean | undefined;

/**
 * Whether `deno compile` works, which is printed if it does not. It needs a base
 * binary, which it downloads or finds at `DENORT_BIN`.
 */
export function canCompile(): boolean {
  isCompiling ??= tryCompiling();
  return isCompiling;
}

function tryCompiling(): boolean {
  using place = new Place();
  const file = place.file("main.js", "console.log('ok')");
  const args = ["compile", "--quiet", "--no-config", "-o", `${file}.exe`, file];
  const { success } = new Deno.Command(Deno.execPath(), { args }).outputSync();
  const works = success && runsProgram(`${file}.exe`);
  if (!works) {
    console.error(
      "NOT TESTED: the executable. deno compile finds no base binary of its own version: it can neither be fetched, nor does DENORT_BIN name one.",
    );
  }
  return works;
}

/** Whether an executable is the program, and not another one that ignores it. */
function runsProgram(executable: string): boolean {
  const { stdout } = new Deno.Command(executable).outputSync();
  return new TextDecoder().decode(stdout).trim() === "ok";
}
