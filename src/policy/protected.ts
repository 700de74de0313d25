/** What nobody may open: whoever changes these changes what the caller's own programs do next. */
const ALWAYS = [".git", ".glovebox"];

/** Files and folders at the top of a workspace that a person's own tools read and act upon, often without being asked. */
const USUALLY = [
  ".github/workflows",
  ".gitmodules",
  ".envrc",
  ".vscode",
  ".idea",
  ".husky",
  ".pre-commit-config.yaml",
  ".mcp.json",
  ".claude",
  ".codex",
  ".npmrc",
  ".yarnrc.yml",
  ".cargo/config.toml",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".cshrc",
  "*.code-workspace",
];

/** The default protected list: workspace-relative paths and patterns that are read-only unless somebody opens them. */
export const PROTECTED: readonly string[] = [...ALWAYS, ...USUALLY];

/** Why an entry cannot be opened by `workspace.unprotect`, in words that follow it; undefined when it can. */
export function unprotectProblem(path: string): string | undefined {
  if (USUALLY.includes(path)) return undefined;
  if (ALWAYS.includes(path)) return "cannot be opened: what is there runs on this machine";
  return `is no entry of the default protected list; expected one of ${USUALLY.join(", ")}`;
}
