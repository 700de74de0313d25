/** What tools of this kind elsewhere call the parameters of ours, where it is too far from the name to be a typo of it. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  path: ["file", "file_path", "filePath", "filename", "directory"],
  oldText: ["old_string", "old_str", "oldString", "old", "search", "find"],
  newText: ["new_string", "new_str", "newString", "new", "replace", "replacement"],
  content: ["contents", "text", "file_text", "data"],
};

/** The one of `allowed` that is meant by another harness's `name`. */
export function ourNameFor(name: string, allowed: readonly string[]): string | undefined {
  return allowed.find((candidate) => Object.hasOwn(OTHER_NAMES, candidate) && OTHER_NAMES[candidate]?.includes(name));
}
