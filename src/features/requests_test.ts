import assert from "node:assert/strict";
import { pages } from "../../tests/testing/client.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/place.ts";
import { Wire } from "../../tests/testing/server.ts";

const HOME = "home/.claude/skills";

Deno.test("every list refuses a cursor that is no position in it", async () => {
  using place = filesPlace();
  await using wire = await Wire.open(place);
  const uri = "skill://git";
  const lists = ["tools", "prompts", "resources", "resources/templates"];
  const methods = [...lists, "skills"].map((list) => `${list}/list`);
  for (const method of [...methods, "resources/directory/read"]) {
    for (
      const cursor of ["", "x", "0", "-1", "1.5", "1e3", " 1", "5", "1000"]
    ) {
      const { error } = await wire.ask(1, method, { uri, cursor });
      assert.equal(error?.code, -32602, `${method} ${cursor}`);
    }
  }
});

Deno.test("every page of a list follows from a cursor, however long the names are", async () => {
  using place = new Place();
  const count = 1_100;
  for (let index = 0; index < count; index++) {
    const name = `${"\u6f22".repeat(190)} ${index}`;
    place.skill(HOME, `s${index}`, skillMd(JSON.stringify(name), "x"));
    place.file(`${HOME}/s0/${"a".repeat(200)}/${"b".repeat(250)}${index}`, "");
  }
  await using wire = await Wire.open(place);
  const uri = `skill://${encodeURIComponent(`${"\u6f22".repeat(190)} 0`)}/${
    "a".repeat(200)
  }`;
  const cases = [
    ["resources/list", 2 * count],
    ["prompts/list", count + 1],
    ["resources/directory/read", count, { uri }],
  ] as const;
  for (const [method, expected, params] of cases) {
    const entries = (await pages(wire, method, params))
      .flatMap(({ resources, prompts }) => resources ?? prompts);
    const ids = new Set(entries.map(({ uri, name }) => uri ?? name));
    assert.deepEqual([entries.length, ids.size], [expected, expected]);
  }
});
