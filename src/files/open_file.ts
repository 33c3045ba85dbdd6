/**
 * Opens files for reading without ever blocking.
 *
 * 1. `Deno.openSync` blocks the event loop at a FIFO until another process writes
 *    to it. Checking the type of the file first is not enough, because the file
 *    can be replaced after the check. `node:fs` supports the flag `O_NONBLOCK`.
 * 2. `Deno.FsFile.statSync` requires read permission for the real path of the
 *    file, which is not granted if an allowed folder is a link. `node:fs` requires
 *    none.
 * 3. Loading `node:fs` takes 20 ms, a tenth of the startup time.
 *
 * @module
 */

/** The longest step in which a file system stores times, in milliseconds. FAT has it. */
const TIME_STEP_MS = 2_000;

/**
 * How far the clock of a file system may be behind the clock of this process, in
 * milliseconds. A program that only reads cannot ask for the time there.
 */
const MAX_CLOCK_DIFFERENCE_MS = 30_000;

export interface OpenFile extends Disposable {
  readonly info: FileState;
  /** Reads the next bytes into a buffer. Returns their number, or 0 at the end of the file. */
  read(buffer: Uint8Array): number;
}

/** The part of a file's status that identifies it and shows whether it changed. */
export type FileState = Pick<
  Deno.FileInfo,
  "isFile" | "dev" | "ino" | "size" | "mtime" | "ctime"
>;

/** Returns a text that changes when the file does. See {@linkcode isRacy} for the exception. */
export function fileVersion(
  { dev, ino, size, mtime, ctime }: FileState,
): string {
  // A template would create a rope, which takes four times the memory.
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(":");
}

/**
 * Whether a file changed so recently that it can change again without a new
 * version. Also `true` if its times are unknown or exceed the range of `Date`.
 */
export function isRacy(
  { dev, mtime, ctime }: Pick<FileState, "dev" | "mtime" | "ctime">,
  now = Date.now(),
): boolean {
  const changed = Math.max(mtime?.getTime() ?? NaN, ctime?.getTime() ?? NaN);
  const delay = isOnBlockDevice(dev) ? 0 : MAX_CLOCK_DIFFERENCE_MS;
  return !(now - changed >= TIME_STEP_MS + delay);
}

/**
 * Whether a file system is on a block device, so that its clock is the system's.
 * On Linux, the others, such as those on a network, have the major number 0.
 */
function isOnBlockDevice(dev: number): boolean {
  return Deno.build.os === "linux" && (dev >> 8 & 0xfff) !== 0;
}

/**
 * Opens a file without blocking. The first call loads `node:fs`.
 *
 * @throws {Error} The same errors as Deno's own functions.
 */
export function openFile(path: string): OpenFile {
  isNodeLoaded = true;
  const fs = globalThis.process.getBuiltinModule("node:fs");
  const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    throw denoError(error as Error);
  }
  const stats = fs.fstatSync(fd);
  const { dev, ino, size, mtime, ctime } = stats;
  return {
    info: { isFile: stats.isFile(), dev, ino, size, mtime, ctime },
    read: (buffer) => fs.readSync(fd, buffer),
    [Symbol.dispose]: () => fs.closeSync(fd),
  };
}

let isNodeLoaded = false;

/**
 * Opens a file, without loading `node:fs` if possible: the file must not have
 * changed recently, which makes a swap for a FIFO at this moment unlikely, and
 * Deno must be allowed to read its real path.
 *
 * @param info The status of the file before it is opened.
 */
export function openForScan(path: string, info: FileState): OpenFile {
  if (isNodeLoaded || isRacy(info)) return openFile(path);
  const file = Deno.openSync(path);
  // Three times as fast as close().
  const close = () => file[Symbol.dispose]();
  try {
    return {
      info: file.statSync(),
      read: (buffer) => file.readSync(buffer) ?? 0,
      [Symbol.dispose]: close,
    };
  } catch {
    close();
    return openFile(path);
  }
}

const { NotFound, PermissionDenied } = Deno.errors;

/** The errors of Deno by the codes of `node:fs`. */
const ERRORS: Readonly<Record<string, new (message: string) => Error>> = {
  ENOENT: NotFound,
  ENOTDIR: NotFound,
  ELOOP: NotFound,
  EACCES: PermissionDenied,
  EPERM: PermissionDenied,
};

/** Converts an error of `node:fs` to the error that Deno's own functions would throw. */
function denoError(error: Error & { code?: string }): Error {
  const DenoError = ERRORS[error.code ?? ""];
  return DenoError ? new DenoError(error.message) : error;
}
