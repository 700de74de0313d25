/** The HTTP status of an engine's answer that was thrown as an error, by dockerode or as an error of ours; or undefined. */
export function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  if ("statusCode" in thrown && typeof thrown.statusCode === "number") return thrown.statusCode;
  return "cause" in thrown ? statusOf(thrown.cause) : undefined;
}

/** The value, or undefined when the engine has no such thing (404). */
export async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}
