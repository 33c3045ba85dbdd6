import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { filesPlace, skillMd } from "../../tests/testing/place.ts";
import { Wire } from "../../tests/testing/server.ts";

Deno.test("resources/list contains each skill's SKILL.md and the collection of its files", async () => {
  using place = filesPlace();
  await using session = await Session.open(place);
  const { resources } = await session.client.listResources();
  assert.deepEqual(resources.slice(0, 2), [
    {
      uri: "skill://git/SKILL.md",
      name: "git",
      description: "Work with git",
      mimeType: "text/markdown",
      _meta: { "io.github.skill-server/scope": "global" },
    },
    {
      uri: "skill://git/",
      name: "git/",
      description: "All files of the skill",
    },
  ]);
  assert.deepEqual(resources.slice(2).map(({ uri }) => uri), [
    "skill://hidden/SKILL.md",
    "skill://hidden/",
  ]);
  const { resourceTemplates } = await session.client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
    "skill://{name}",
    "skill://{name}/",
    "skill://{name}/{+path}",
  ]);
});

Deno.test("resources/read reads a skill, one of its files, or all of its files", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "odd", skillMd("'Größe & 100%'"));
  const text = "\ufeffconst x = 1;\r\n";
  place.file(`home/.claude/skills/odd/a b/ü#.ts`, text);
  await using session = await Session.open(place);
  const read = async (uri: string) =>
    (await session.client.readResource({ uri })).contents;
  const mimeType = "text/markdown";
  const main = { mimeType, text: skillMd("git", "Work with git") };
  const uri = "skill://git";
  assert.deepEqual(await read(uri), [{ uri, ...main }]);
  const files = [
    { uri: "skill://git/SKILL.md", ...main },
    { uri: "skill://git/logo.png", mimeType: "image/png", blob: "if8=" },
    { uri: "skill://git/references/API.md", mimeType, text: "# API" },
    { uri: "skill://git/references/deep/more.md", mimeType, text: "# More" },
  ];
  assert.deepEqual(await read("skill://git/"), files);
  for (const file of files) assert.deepEqual(await read(file.uri), [file]);
  const [, , , more] = files;
  const encoded = "skill://git/references%2Fdeep%2fmore.md";
  assert.deepEqual(await read(encoded), [{ ...more, uri: encoded }]);
  const odd = "skill://Gr%C3%B6%C3%9Fe%20%26%20100%25";
  const [, script] = await read(`${odd}/`);
  assert.deepEqual(script, {
    uri: `${odd}/a%20b/%C3%BC%23.ts`,
    mimeType: "text/typescript",
    text,
  });
});

Deno.test("resources/read returns an error with the URI for an unknown URI", async () => {
  using place = filesPlace();
  await using wire = await Wire.open(place);
  const outside = [
    "../hidden/a.md",
    "%2e%2e/hidden/a.md",
    "..%2Fhidden%2Fa.md",
  ];
  const uris = ["none.md", "references", ".env", ...outside]
    .map((path) => `skill://git/${path}`);
  for (const uri of [...uris, "skill://none", "file:///etc/passwd", ""]) {
    const { error } = await wire.ask(1, "resources/read", { uri });
    assert.equal(error!.code, -32602, uri);
    assert.deepEqual(error!.data, { uri });
    assert.ok(!error!.message.includes(place.path));
  }
});
