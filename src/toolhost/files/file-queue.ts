const tails = new Map<string, Promise<unknown>>();
let resolved: Promise<unknown> = Promise.resolve();

/**
 * Runs the tasks of one file one after another in the order they came, those of different files side by side: edits of
 * one turn that read the same original would otherwise all report success while only the last survives. `locate` finds
 * the file's path without links, which takes longer for some; those wait in line too, or the order would be lost there.
 */
export async function oneAtATime<T>(locate: () => Promise<string>, task: (real: string) => Promise<T>): Promise<T> {
  const located = resolved.then(locate);
  resolved = located.catch(() => undefined);
  const real = await located;
  const run = (): Promise<T> => task(real);
  const before = tails.get(real);
  const own = before === undefined ? run() : before.then(run, run);
  tails.set(real, own);
  try {
    return await own;
  } finally {
    if (tails.get(real) === own) tails.delete(real);
  }
}
