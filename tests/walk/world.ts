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

/** The states that are stricter than others, the strictest first. */
export const STRICTEST = ["off", "manual", "name-only"] as const;

export type Closure = "off" | "manual";

/** A folder that is searched for skills. */
export interface Root {
  path: string;
  recursive: boolean;
  /** Whether it is one of the project's default folders. */
  isProject: boolean;
  /** Whether it can be a skill itself. */
  includesItself: boolean;
}

/** The settings of a server. */
export interface World {
  workingDirectory: string;
  home: string;
  toolset: string;
  /** The roots in search order. */
  roots: Root[];
  trustLinks: string[];
  /** The rules of the last valid policy, if there ever was one. */
  rules: readonly Rule[] | undefined;
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
  position: number;
}

/** A folder with a `SKILL.md`, valid or not. */
export interface Found {
  place: string;
  scope: string;
  faces: Face[];
  main: string;
  frontmatter: Frontmatter;
}

/** What rules are asked about: a name and a path of a skill. */
export interface Subject {
  name: string;
  path: string;
  scope: string;
}
