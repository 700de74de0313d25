/**
 * A workspace-relative path, or a pattern, at which nothing may appear, and the rule that says so. `until` says how long
 * it is left alone if it does: to the end of the call, or of the run.
 */
export type GuardedPath = { path: string; rule: string; until: "call" | "end" };

/**
 * Why a path is kept: it `appeared` where nothing may, or is the repository a command made (`git`); of a protected path
 * that was replaced on the host, what it held at the start (`before`) and what was found in its place (`after`).
 */
export type QuarantineKind = "appeared" | "git" | "before" | "after";

/** Something to be kept. `cut` says in words what is left out of it. */
export type QuarantineItem = { path: string; rule: string; kind: QuarantineKind; entries: number; cut: string[] };

/** Something kept, as the tar archive of so many bytes with this SHA-256. */
export type Quarantined = QuarantineItem & { sha256: string; bytes: number };

/** What to look for and move out of a workspace. */
export type Appeared = { path: string; rule: string; kind: "appeared" | "git" };
