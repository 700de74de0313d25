import type { Dropped } from "./dropped.ts";
import type { Layer, Ruled } from "./layer.ts";

type Sayers = { organisation: Layer; person: Layer; project: Layer };

/** The OCI runtime: the organisation's, else the person's, never a project's; undefined is the engine's own choice. */
export function chooseRuntime({ organisation, person, project }: Sayers): {
  chosen: Ruled<string> | undefined;
  dropped: Dropped[];
} {
  const [own, others, theirs] = [organisation, person, project].map(({ picks }) => picks["sandbox.runtime"]);
  const chosen = own ?? others;
  const by = chosen?.rule ?? "built-in/sandbox.runtime";
  const kept = chosen?.value ?? "the engine's own";
  const dropped = [others, theirs].flatMap((wish) =>
    wish && wish.value !== chosen?.value ? [{ rule: wish.rule, asked: wish.value, by, kept }] : [],
  );
  return { chosen, dropped };
}
