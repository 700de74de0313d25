/** What tools of this kind elsewhere call the parameters of ours, where it is too far from the name to be a typo of it. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  path: ["file", "file_path", "filePath", "filename", "directory", "dir", "folder"],
  oldText: ["old_string", "old_str", "oldString", "old", "search", "find"],
  newText: ["new_string", "new_str", "newString", "new", "replace", "replacement"],
  content: ["contents", "text", "file_text", "data"],
  command: ["cmd", "script", "code"],
  timeout: ["seconds", "max_seconds"],
  background: ["run_in_background", "is_background"],
  glob: ["include", "includes", "files", "file_pattern"],
  pattern: ["query", "regex", "regexp", "search", "name", "glob", "glob_pattern"],
  ignoreCase: ["case_insensitive", "ignore_case", "-i"],
  literal: ["fixed_strings", "fixed"],
  context: ["context_lines", "-A", "-B", "-C"],
  offset: ["start_line", "startLine", "line_start", "start", "line"],
  limit: ["max_results", "maxResults", "head_limit", "max_lines", "lines", "count"],
};

/** The same for the tools themselves. */
const OTHER_TOOLS: Record<string, readonly string[]> = {
  bash: ["shell", "run", "execute", "exec", "terminal", "run_command", "execute_command", "run_shell_command"],
  edit: ["str_replace", "str_replace_editor", "str_replace_based_edit_tool", "replace", "apply_patch", "multi_edit"],
  find: ["glob", "find_files", "file_search", "search_files"],
  grep: ["search", "rg", "ripgrep", "search_code", "grep_search", "search_file_content"],
  ls: ["list", "dir", "list_dir", "list_files", "list_directory"],
  read: ["cat", "open", "view", "read_file", "view_file", "open_file", "head", "tail"],
  write: ["create", "write_file", "create_file", "write_to_file", "save_file"],
};

/** The one of `allowed` that is meant by another harness's `name`. */
export function ourNameFor(name: string, allowed: readonly string[]): string | undefined {
  return allowed.find((candidate) => isOtherName(OTHER_NAMES, candidate, name));
}

/** The same for the name of a tool, however it is written. */
export function ourToolFor(name: string, available: readonly string[]): string | undefined {
  const plain = name
    .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
    .replaceAll("-", "_")
    .toLowerCase();
  return available.find((candidate) => isOtherName(OTHER_TOOLS, candidate, plain));
}

function isOtherName(names: Record<string, readonly string[]>, ours: string, name: string): boolean {
  return Object.hasOwn(names, ours) && names[ours]?.includes(name) === true;
}
