import assert from "node:assert/strict";
import { diskError } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { LINK_OUTSIDE, SkillFileError, WAS_REPLACED } from "../files/faults.ts";
import { createFailure } from "./record.ts";

const MINE = root("/mine");

Deno.test("createFailure() says what is wrong with a file, which option helps, and whether it may pass", () => {
  const link = new SkillFileError("a", LINK_OUTSIDE);
  const { problem, ...rest } = createFailure(link, "/mine/a", MINE);
  assert.deepEqual(rest, { root: MINE, isTemporary: false });
  const { file, rule, hint } = problem;
  assert.deepEqual([file, rule], ["/mine/a", "link-outside"]);
  assert.match(hint, /--trust-links/);
  for (const error of [diskError(), new SkillFileError("a", WAS_REPLACED)]) {
    assert.equal(createFailure(error, "/mine/a", MINE).isTemporary, true);
  }
});
