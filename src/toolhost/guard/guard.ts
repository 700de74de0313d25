import { existsSync } from "node:fs";
import { isGlob, matchesPath } from "../../core/path-rules.ts";
import type { GuardedPath } from "../../core/quarantine.ts";
import type { Hello, Outcome } from "../../protocol/messages.ts";
import { shownPath } from "../files/paths.ts";
import { withNotices } from "../notices.ts";
import { Refusal } from "../outcomes.ts";
import type { ProcessScope } from "../shell/process-scope.ts";
import type { Keeper } from "./keeper.ts";
import { type Moved, mayBeThere, moveOut } from "./move-out.ts";

/** Keeps paths empty at which nothing may appear while a session runs. */
export type Guard = {
  /** @throws Refusal when a tool is about to write where nothing may appear; `real` is absolute, without links. */
  refuse: (real: string) => void;
  /** The outcome of a call that may have changed files, with what was moved out after it. */
  after: (outcome: Outcome) => Promise<Outcome>;
  /** Moves out what is at guarded paths now, with every process standing still already. */
  sweep: () => Promise<Moved[]>;
};

export type GuardParts = { hello: Hello; scope: Pick<ProcessScope, "stopAll" | "continueAll">; keeper: Keeper };

export function createGuard({ hello, scope, keeper }: GuardParts): Guard {
  const atOnce = hello.guarded.filter(({ until }) => until === "call");
  const exact = atOnce.filter(({ path }) => !isGlob(path));
  const sweep = (): Promise<Moved[]> =>
    moveOut(
      hello.root,
      exact.map(({ path, rule }) => ({ path, rule, kind: "appeared" })),
      { keeper, tooLarge: "cut" },
    );
  return {
    refuse(real) {
      if (!real.startsWith(`${hello.root}/`)) return;
      const path = real.slice(hello.root.length + 1);
      const match = atOnce.find((guarded) => matchesPath(guarded.path, path));
      if (match) throw refusal(path, match, existsSync(real));
    },
    async after(outcome) {
      if (!exact.some(({ path }) => mayBeThere(hello.root, path))) return outcome;
      scope.stopAll?.();
      try {
        return withMoved(outcome, await sweep(), hello.session);
      } finally {
        scope.continueAll?.();
      }
    },
    sweep,
  };
}

function refusal(path: string, { rule }: GuardedPath, exists: boolean): Refusal {
  const isBuiltIn = rule.startsWith("built-in/");
  const opening = isBuiltIn
    ? "open it in their own policy (`workspace.unprotect`)"
    : "take that rule out of the policy";
  const enable = `only a person can ${exists ? "change" : "create"} it, or ${opening}`;
  const what = exists ? "read-only" : "nothing may be created here";
  return new Refusal(`${shownPath(path)}: ${what} by policy rule ${rule}; ${enable}`, {
    by: "containment",
    rule,
    enable_with: enable,
  });
}

function withMoved(outcome: Outcome, moved: readonly Moved[], session: string): Outcome {
  const [first] = moved;
  if (!first) return outcome;
  const { path, rule } = first.item;
  const enable = `a person can bring it back by \`glovebox apply ${session} ${path}\``;
  const notes = moved.map((one) => movedWords(one, session));
  const [last, ...before] = outcome.content.toReversed();
  const content =
    last?.type === "text"
      ? [...before.toReversed(), { type: "text" as const, text: withNotices(last.text, notes) }]
      : [...outcome.content, { type: "text" as const, text: withNotices("", notes) }];
  return { ...outcome, content, denial: outcome.denial ?? { by: "containment", rule, enable_with: enable } };
}

function movedWords({ item, problem }: Moved, session: string): string {
  const { path, rule, cut } = item;
  const why = `nothing may be created there by policy rule ${rule}`;
  if (problem !== undefined) return `${path} could not be moved out of the workspace (${problem}), although ${why}`;
  const left = cut.length > 0 ? `; not kept: ${cut.join(", ")}` : "";
  return `${path} was moved out of the workspace: ${why}. Work without it; a person can bring it back by \`glovebox apply ${session} ${path}\`${left}`;
}
