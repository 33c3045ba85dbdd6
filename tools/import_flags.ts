/** The flag for an import map, for networks without access to JSR. */

/** Returns the flag among the arguments, if it is there, for any working directory. */
export function importFlags(): string[] {
  return Deno.args
    .filter((flag) => flag.startsWith("--import-map="))
    .map((flag) =>
      flag.replace(/(?<==)(?!\/|\w+:)/, `${import.meta.dirname}/../`)
    );
}
