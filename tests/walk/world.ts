// What the reference model is asked about, and what it answers.
import type { Frontmatter } from "./reading.ts";

/** A rule of a policy, whose `in` is an absolute path. */
export interface Rule {
  state: State;
  skill?: string;
  scope?: string;
  in?: string;
}

export type State = "on" | "pinned" | "name-only" | "manual" | "off";

/** The states that close a folder, the strictest first. */
export const CLOSED = ["off", "manual"] as const;

export type Closure = typeof CLOSED[number];

/** The settings of a server. */
export interface World {
  workingDirectory: string;
  home: string;
  toolset: string;
  /** The roots in search order. */
  roots: { path: string; recursive: boolean }[];
  trustLinks: string[];
  rules: readonly Rule[];
  /** The folders that Deno may read, without those of rules. */
  granted: readonly string[];
}

/** A skill that clients may see. */
export interface Sight {
  name: string;
  /** Its real directory. */
  place: string;
  scope: string;
  state: State;
  /** Whether the model, and whether the user, can load it. */
  forModel: boolean;
  forUser: boolean;
  /** The real paths of its files by path: for clients, and for the model. */
  files: Map<string, string>;
  modelFiles: Map<string, string>;
}

/** A path through which a root lists a folder. */
export interface Face {
  path: string;
  place: string;
  depth: number;
  /** Whether a link in the project is on the path. */
  isConfined: boolean;
  /** The place of the skill around it. */
  skill?: string;
}

/** A folder with a `SKILL.md`, valid or not. */
export interface Found {
  /** The path by which it is served. */
  path: string;
  place: string;
  faces: Face[];
  main: string;
  frontmatter: Frontmatter;
}

/** What rules are asked about: a path of a skill, and a scope that it has there. */
export interface Subject {
  path: string;
  scope: string;
}
