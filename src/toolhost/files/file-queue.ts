const tails = new Map<string, Promise<unknown>>();

/**
 * Runs the tasks of one file one after another in the order they came, those of different files side by side: edits of
 * one turn that read the same original would otherwise all report success while only the last survives.
 */
export async function oneAtATime<T>(realPath: string, task: () => Promise<T>): Promise<T> {
  const before = tails.get(realPath);
  const own = before === undefined ? task() : before.then(task, task);
  tails.set(realPath, own);
  try {
    return await own;
  } finally {
    if (tails.get(realPath) === own) tails.delete(realPath);
  }
}
