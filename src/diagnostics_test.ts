import assert from "node:assert/strict";
import { type Diagnostic, formatDiagnostic, type Rule } from "./diagnostics.ts";

/** Creates a problem with a file `a`. */
function diagnosticWith(
  rule: Rule,
  rest: Partial<Diagnostic> = {},
): Diagnostic {
  return { rule, file: "a", reason: "it is odd", fix: "fix it", ...rest };
}

Deno.test("formatDiagnostic() names the effect, the file, the line, and the fix", () => {
  const cases: [Diagnostic, expected: string][] = [
    [
      diagnosticWith("name-missing", { line: 3 }),
      'Skipped "a" (line 3): it is odd; fix it',
    ],
    [diagnosticWith("size"), 'Check "a": it is odd; fix it'],
    [diagnosticWith("long"), 'Check "a": it is odd; fix it'],
    [diagnosticWith("policy"), 'Cannot use the policy "a": it is odd; fix it'],
  ];
  for (const [diagnostic, expected] of cases) {
    assert.equal(formatDiagnostic(diagnostic), expected);
  }
});

Deno.test("formatDiagnostic() writes one sentence, whatever the file is called", () => {
  const diagnostic = diagnosticWith("name-missing", {
    file: 'a": fine\nSkipped "b\u202e\x1b[1m',
    reason: "it has\n\u200b two lines",
    fix: "write:\nname: a",
  });
  const file = "a\\u0022: fine\\u000aSkipped \\u0022b\\u202e\\u001b[1m";
  assert.equal(
    formatDiagnostic(diagnostic),
    `Skipped "${file}": it has two lines; write: name: a`,
  );
});
