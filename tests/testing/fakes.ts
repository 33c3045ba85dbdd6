// Stand-ins for a while: for members of objects, for the disk, and for variables.

/** Replaces members of an object until it is disposed of. */
export function replaced<T extends object>(
  object: T,
  members: Partial<T>,
): Disposable {
  const originals = Object.fromEntries(
    Object.keys(members).map((key) => [key, object[key as keyof T]]),
  );
  Object.assign(object, members);
  return { [Symbol.dispose]: () => Object.assign(object, originals) };
}

/** The functions of Deno that a {@linkcode DiskSpy} replaces. */
const SPIED = [
  "lstatSync",
  "openSync",
  "readDirSync",
  "readLinkSync",
  "realPathSync",
  "statSync",
] as const;

/** Counts operations on the disk, and makes some of them fail. */
export class DiskSpy implements Disposable {
  /** The number of calls of each function. */
  readonly counts = new Map<string, number>();
  /** Returns the error of an operation on a path, if it fails. */
  failure: (path: string, operation: string) => Error | undefined;
  readonly #originals = SPIED.map((name) => [name, Deno[name]] as const);

  constructor(failure: DiskSpy["failure"] = () => undefined) {
    this.failure = failure;
    for (const [name, original] of this.#originals) {
      const spied = (path: string | URL, ...options: unknown[]) => {
        this.#record(String(path), name);
        return (original as (...args: unknown[]) => unknown)(path, ...options);
      };
      Object.assign(Deno, { [name]: spied });
    }
  }

  /** The total number of operations. */
  get count(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  #record(path: string, operation: string): void {
    this.counts.set(operation, (this.counts.get(operation) ?? 0) + 1);
    const error = this.failure(path, operation);
    if (error !== undefined) throw error;
  }

  [Symbol.dispose](): void {
    Object.assign(Deno, Object.fromEntries(this.#originals));
  }
}

/** Creates the error with which an operation fails if the disk does. */
export function diskError(): Error {
  const error = new Error("Input/output error (os error 5)");
  return Object.assign(error, { code: "EIO" });
}

/** Calls a function as if the environment had nothing but these variables. */
export function withVariables<T>(
  variables: Readonly<Record<string, string>>,
  work: () => T,
): T {
  const { get } = Deno.env;
  using stack = new DisposableStack();
  stack.defer(() => Deno.env.get = get);
  Deno.env.get = (name) => variables[name];
  return work();
}
