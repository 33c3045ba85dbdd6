import assert from "node:assert/strict";
import { checkFile, readChecked } from "./reading.ts";
import { runSteps } from "../time_slice.ts";
import { lacks } from "../../tests/testing/needs.ts";

Deno.test(
  "readChecked() reads a file that has more bytes than its status says",
  { ignore: lacks("proc") },
  () => {
    const folder = { directory: "/proc", realDirectory: "/proc", file: "" };
    const checked = runSteps(checkFile(folder, "version", {}));
    const { bytes } = runSteps(readChecked(checked, "version", {}));
    assert.equal(checked.info.size, 0);
    assert.deepEqual(bytes, Deno.readFileSync("/proc/version"));
  },
);
