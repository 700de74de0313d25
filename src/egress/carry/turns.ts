let last = Promise.resolve();

/** Each caller has a turn of the event loop of its own, in order: whatever else waits goes on between two of them. */
export function turnOfLoop(): Promise<void> {
  last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
  return last;
}
