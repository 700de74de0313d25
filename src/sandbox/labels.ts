/** What every container, volume and image of ours carries. Without `glovebox` nothing is ours and nothing is touched. */
export const LABELS = {
  /** Our version. */
  version: "glovebox",
  /** `session`, `probe`, `runtime`, `helper` … */
  kind: "glovebox.kind",
  session: "glovebox.session",
  /** {@link Owner} as JSON. */
  owner: "glovebox.owner",
  /** Hash of the workspace's path. */
  workspace: "glovebox.workspace",
} as const;
