import assert from "node:assert/strict";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { Wire } from "../../tests/testing/server.ts";

const withSignals = needs("signals");

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const) {
  withSignals.test(`server exits with 0 on ${signal}`, async () => {
    using place = new Place();
    await using wire = await Wire.open(place);
    await wire.ask(1, "tools/list");
    wire.process.kill(signal);
    assert.equal((await wire.ended).code, 0);
    assert.equal(wire.stderr, "");
  });
}
