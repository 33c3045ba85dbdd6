// What the tests share, in files by what it helps with.
export * from "./testing/case_blind.ts";
export * from "./testing/browser.ts";
export * from "./testing/client.ts";
export * from "./testing/command_line.ts";
export * from "./testing/environment.ts";
export * from "./testing/folders.ts";
export * from "./testing/hostile.ts";
export * from "./testing/http.ts";
export * from "./testing/modern.ts";
export * from "./testing/needs.ts";
export * from "./testing/registry.ts";
export * from "./testing/server.ts";
export * from "./testing/transport.ts";
export * from "./testing/waiting.ts";
