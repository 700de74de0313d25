import { setMaxListeners } from "node:events";

/**
 * Does `work` with a controller of its own, which aborts with `parent`. Not `AbortSignal.any`: `parent` lives as long as
 * a session, and must not gather what every connection of it leaves.
 */
export async function withAbort<T>(parent: AbortSignal, work: (own: AbortController) => Promise<T>): Promise<T> {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const pass = (): void => own.abort(parent.reason);
  if (parent.aborted) pass();
  parent.addEventListener("abort", pass, { once: true });
  try {
    return await work(own);
  } finally {
    parent.removeEventListener("abort", pass);
  }
}
