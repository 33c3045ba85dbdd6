/**
 * Which folders Deno must be allowed to read for a policy.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import { isAtOrBelow } from "../files/paths.ts";
import {
  parsePolicy,
  type PolicyOrigin,
  readPolicyText,
} from "./policy_file.ts";
import { listRuleFolders } from "./rule_folders.ts";
import { realPathOf } from "./scopes.ts";

/**
 * Lists the paths that must be readable to use a policy and to notice its
 * changes: the file, and the folders of its rules, with the targets of links. The
 * home folder and the folders above it are left out. A rule with a wildcard in
 * one of these cannot be resolved without more permissions.
 */
export function listPolicyPermissions(source: PolicyOrigin): string[] {
  const { file, homeDirectory: home } = source;
  const base = { workingDirectory: dirname(file), homeDirectory: home };
  // An invalid policy has no rules.
  const policy = attempt(() => parsePolicy(readPolicyText(file), source));
  const folders = (policy?.rules ?? [])
    .flatMap((rule) =>
      rule.in === undefined ? [] : listRuleFolders(rule.in, base)
    )
    .map(({ path }) => path);
  const isTooMuch = (path: string) =>
    path === dirname(path) || home !== undefined && isAtOrBelow(home, path);
  const paths = [file, ...folders.filter((path) => !isTooMuch(path))];
  const real = paths.map(realPathOf).filter((path) => !isTooMuch(path));
  return [...new Set([...paths, ...real])];
}
