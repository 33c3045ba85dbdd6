import assert from "node:assert/strict";
import { diskError } from "../../tests/testing/fakes.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import type { Rule } from "../diagnostics.ts";
import {
  diagnosticOf,
  isAbsence,
  isTemporary,
  LINK_OUTSIDE,
  SkillFileError,
  tooLarge,
} from "./errors.ts";
import { join } from "./paths.ts";

const withNames = needs("names");

/** Creates an error as `node:fs` throws it. */
function nodeError(code: string): Error {
  return Object.assign(new Error(`${code}: some text`), { code });
}

/** Creates an error as Deno throws it if it has no code. */
function numberedError(number: number): Error {
  return new Error(`Some text (os error ${number}): open '/a'`);
}

/** The numbers of EDEADLK and ESTALE. */
const NUMBERS: Readonly<Record<string, readonly number[]>> = {
  linux: [35, 116],
  darwin: [11, 70],
};

/** An error, the rule that it breaks, and what it means. */
const CASES: readonly (readonly [
  error: Error,
  rule: Rule,
  meaning: "absent" | "temporary" | "lasting",
])[] = [
  [new Deno.errors.NotFound(), "link-broken", "absent"],
  [new Deno.errors.NotADirectory(), "link-broken", "absent"],
  [new Deno.errors.FilesystemLoop(), "link-broken", "absent"],
  [nodeError("ENOENT"), "link-broken", "absent"],
  [nodeError("ENAMETOOLONG"), "link-broken", "absent"],
  [new Deno.errors.InvalidData(), "link-broken", "absent"],
  [new Deno.errors.NotCapable(), "permission", "lasting"],
  [new Deno.errors.PermissionDenied(), "permission", "lasting"],
  [nodeError("EACCES"), "permission", "lasting"],
  [nodeError("EMFILE"), "inaccessible", "temporary"],
  [diskError(), "inaccessible", "temporary"],
  ...(NUMBERS[Deno.build.os] ?? []).map((number) =>
    [numberedError(number), "inaccessible", "temporary"] as const
  ),
  // A path can contain anything.
  [new Deno.errors.NotCapable('"(os error 5)"'), "permission", "lasting"],
  [new Error("cannot open '(os error 5)'"), "inaccessible", "lasting"],
  [nodeError("EINVAL"), "inaccessible", "lasting"],
  [new Error(), "inaccessible", "lasting"],
  [new SkillFileError("a.md", LINK_OUTSIDE), "link-outside", "lasting"],
];

Deno.test("errors of Deno and of node:fs are told apart by names, codes, and numbers", () => {
  for (const [error, rule, meaning] of CASES) {
    const title = `${error.name} ${error.message}`;
    const { reason, fix, ...rest } = diagnosticOf(error);
    assert.deepEqual(rest, { rule }, title);
    assert.ok(reason !== "" && fix !== "", title);
    assert.equal(isAbsence(error), meaning === "absent", title);
    assert.equal(isTemporary(error), meaning === "temporary", title);
  }
});

Deno.test("diagnosticOf() advises to download a file that is only in the cloud", () => {
  const { fix } = diagnosticOf(nodeError("EDEADLK"));
  assert.equal(fix, "download it, because it may be only in the cloud");
});

Deno.test("diagnosticOf() repeats no path of an unexpected error", () => {
  const cases: [message: string, words: string][] = [
    ["no such luck", "RangeError: no such luck"],
    ['cannot read "/home/me/secret" here', "RangeError: cannot read"],
    ['cannot read "secret\'s" notes', "RangeError: cannot read"],
    ["/home/me/my secret", "RangeError:"],
    ["in C:\\Users\\me", "RangeError: in"],
  ];
  for (const [message, words] of cases) {
    const { reason } = diagnosticOf(new RangeError(message));
    assert.equal(reason, `the server failed (${words})`);
  }
});

withNames.test("isAbsence() accepts the errors of the file system for paths that cannot exist", () => {
  using place = new Place();
  place.file("file", "");
  const { lstatSync } = globalThis.process.getBuiltinModule("node:fs");
  for (const name of ["none", "file/a", "a\0b", "a".repeat(300)]) {
    const path = join(place.path, name);
    assert.throws(() => Deno.lstatSync(path), isAbsence, name);
    assert.throws(() => Deno.realPathSync(path), isAbsence, name);
    assert.throws(() => lstatSync(path), isAbsence, name);
  }
});

Deno.test("diagnosticOf() repeats the system's words without the path", () => {
  const cases: [message: string, code: string | undefined, words: string][] = [
    [
      "Input/output error (os error 5): readfile '/home/me/secret'",
      undefined,
      "Input/output error (os error 5)",
    ],
    ["EXDEV: open '/home/me/secret'", "EXDEV", "EXDEV"],
    ["cannot open /home/me/secret", undefined, "Error"],
    ["\x1b[2Jerror\u200b (os error 5)", undefined, "[2Jerror (os error 5)"],
  ];
  for (const [message, code, words] of cases) {
    const error = Object.assign(new Error(message), { code });
    assert.equal(
      diagnosticOf(error).reason,
      `the operating system cannot read it (${words})`,
    );
  }
});

Deno.test("SkillFileError says what is wrong with a path, and how to fix it", () => {
  const fault = tooLarge(1024 * 1024);
  const error = new SkillFileError('a"\n.md', fault);
  assert.equal(
    error.message,
    'Cannot read "a\\u0022\\u000a.md": it is larger than 1 MiB; make it smaller',
  );
  assert.deepEqual(diagnosticOf(error), fault);
  assert.equal(tooLarge(512 * 1024).reason, "it is larger than 0.5 MiB");
});
