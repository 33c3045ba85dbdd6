/**
 * Tasks that several callers ask for.
 *
 * @module
 */

/**
 * Runs a task once at a time. Calls while it runs share the next run, because the
 * running one may have missed the latest changes.
 */
export class SharedTask<T> {
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  /** Runs the task, or returns the result of the next run. */
  run(task: () => Promise<T>): Promise<T> {
    if (this.#running === undefined) {
      this.#running = task().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    // An error of the running task concerns only its own callers.
    this.#next ??= this.#running.catch(() => {}).then(() => {
      this.#next = undefined;
      return this.run(task);
    });
    return this.#next;
  }
}
