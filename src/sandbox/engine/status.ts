/** The HTTP status of an engine's answer that was thrown as an error, or undefined. */
export function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== "object" || thrown === null || !("statusCode" in thrown)) return undefined;
  return typeof thrown.statusCode === "number" ? thrown.statusCode : undefined;
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
