import { GloveboxError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { visible, visibleLine } from "../core/visible.ts";
import { type Dropped, droppedWords } from "../policy/dropped.ts";
import { asSections, type ShownLeaf, shownLeaves } from "../policy/show.ts";
import { EXPLAINED, explain } from "../session/explain.ts";
import { treatmentWords } from "../session/explain-host.ts";
import type { LoadedPolicy } from "../session/policy.ts";
import {
  acceptProposal,
  checkPolicy,
  initPolicy,
  type Proposal,
  policyFor,
  proposalOf,
  untrustProject,
} from "../session/policy-files.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import { parseAllowHosts } from "./allow-hosts.ts";
import { clipToWidth, widthOf } from "./cells.ts";
import type { Io } from "./io.ts";
import { parseWord } from "./numbers.ts";
import { tableLines } from "./table.ts";
import { askLine, hasPerson } from "./terminal-line.ts";
import { type Watch, watched } from "./watch.ts";
import { countWords } from "./words.ts";

export type PolicyFlags = { workspace?: string; policy?: string; allowHost?: string[]; json?: boolean };

/** `glovebox policy show`. */
export function showCommand(flags: PolicyFlags, io: Io): Promise<number> {
  return watched(io, async ({ out }) => {
    const { loaded } = await policyMeant(flags, io);
    const { policy, bounds, facts } = loaded;
    const image = { value: policy.image, rule: policy.origins["image"] ?? "" };
    const leaves = shownLeaves(bounds, { image, runtime: policy.sandbox.runtime });
    if (flags.json) {
      const origins = Object.fromEntries(leaves.map(({ key, origin }) => [key, origin]));
      out.line(JSON.stringify({ version: 1, policy: asSections(leaves), origins, ...facts }));
      return 0;
    }
    for (const line of showLines(leaves, io.stdout.isTTY ? io.stdout.columns : undefined)) out.line(line);
    for (const line of notes(loaded)) out.line(line);
    return 0;
  });
}

function policyMeant({ workspace = ".", policy, allowHost }: PolicyFlags, io: Io): ReturnType<typeof policyFor> {
  const request = { policy, allowHosts: parseAllowHosts(allowHost) };
  return policyFor(workspace, request, surroundingsOf(io.env, io.secrets, io));
}

/** A table no wider than `columns`, where that is the width of a terminal. */
function showLines(leaves: readonly ShownLeaf[], columns: number | undefined): string[] {
  const rows = leaves.map(({ key, value, origin }): [string, string, string] => {
    const rules = typeof origin === "string" ? origin : [...new Set(Object.values(origin))].join(", ");
    return [key, visibleLine(valueText(value)), visibleLine(rules)];
  });
  const room = (columns ?? Number.POSITIVE_INFINITY) - Math.max(...rows.map(([key]) => widthOf(key))) - 4;
  const ruleRoom = Math.max(MIN_CELL, Math.min(MAX_RULE, room - 2 * MIN_CELL));
  const rule = Math.min(ruleRoom, Math.max(...rows.map(([, , rules]) => widthOf(rules))));
  const cut = (text: string, most: number): string => (columns === undefined ? text : clipToWidth(text, most));
  const cells = rows.map(([key, value, rules]) => [
    key,
    cut(value, Math.max(MIN_CELL, room - rule)),
    cut(rules, ruleRoom),
  ]);
  return tableLines(["KEY", "VALUE", "RULE"], cells);
}

const MIN_CELL = 12;
const MAX_RULE = 40;

function valueText(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? "nothing" : value.join(", ");
  return String(value);
}

function notes({ facts }: LoadedPolicy): string[] {
  const sources = facts.sources.map(
    ({ layer, file, trusted }) => `${layer}: ${visibleLine(file)}${trusted ? "" : " (tightens only)"}`,
  );
  const dropped = facts.dropped.map((item) => `dropped ${visibleLine(droppedWords(item))}`);
  const lines = [...sources, ...dropped, ...facts.warnings.map(visibleLine)];
  return lines.length === 0 ? [] : ["", ...lines];
}

/** `glovebox policy check FILE`. */
export function checkCommand(file: string, io: Io): Promise<number> {
  return watched(io, async ({ out }) => {
    const { rules, warnings } = await checkPolicy(file, surroundingsOf(io.env, io.secrets, io));
    out.line(`${visibleLine(file)} is a policy with ${countWords(rules, "rule")}, all of it enforced`);
    for (const words of warnings) out.line(visibleLine(words));
    return 0;
  });
}

/** `glovebox policy explain KIND VALUE`. */
export function explainCommand([kind, value]: [string, string], flags: PolicyFlags, io: Io): Promise<number> {
  return watched(io, async ({ out }) => {
    const known = parseWord("explain", kind, EXPLAINED);
    const { root, loaded } = await policyMeant(flags, io);
    const { enableWith, ...explained } = { enableWith: undefined, ...explain(known, value, loaded, root) };
    const { decision, rule } = explained;
    const place = loaded.places.get(rule) ?? null;
    if (flags.json) {
      const remedy = enableWith === undefined ? {} : { enable_with: enableWith };
      out.line(JSON.stringify({ version: 1, kind: known, value, ...explained, ...remedy, place }));
      return 0;
    }
    const how = "treatment" in explained && explained.treatment ? `; ${treatmentWords(explained.treatment)}` : "";
    out.line(`${decision}: ${rule}${place === null ? "" : ` (${visibleLine(place)})`}${how}`);
    if (enableWith !== undefined) out.line(`what a person can do: ${visibleLine(enableWith)}`);
    if (known === "host" && decision !== "deny") out.line(ADDRESSES);
    return 0;
  });
}

const ADDRESSES = "its addresses are checked when it is dialled: private ones only with `private: true`";

/** `glovebox policy init`. */
export function initCommand(flags: { workspace?: string; user?: boolean }, io: Io): Promise<number> {
  return watched(io, async ({ out }) => {
    const who = flags.user ? "user" : "project";
    const path = await initPolicy(flags.workspace ?? ".", who, surroundingsOf(io.env, io.secrets, io));
    out.line(`Wrote ${visibleLine(path)}`);
    return 0;
  });
}

/** `glovebox policy trust`: only a person at a terminal, who has been shown every byte, can. */
export function trustCommand(flags: { workspace?: string }, io: Io): Promise<number> {
  if (!hasPerson(io)) {
    throw new GloveboxError("NOT_A_TERMINAL", "Only a person at a terminal can trust a policy, and there is none", {
      hint: "Run `glovebox policy trust` in a terminal, or copy what you want of the file into your own policy",
    });
  }
  return watched(io, async (watch) => {
    const surroundings = surroundingsOf(io.env, io.secrets, io);
    const proposal = await proposalOf(flags.workspace ?? ".", surroundings);
    for (const line of proposalLines(proposal)) watch.screen.line(line);
    if (!(await isAccepted(watch, io))) {
      watch.screen.line("Not trusted; nothing was changed");
      return 1;
    }
    await acceptProposal(proposal, surroundings);
    watch.screen.line("Trusted, until the file changes");
    return 0;
  });
}

function proposalLines({ source, text, gains, refused }: Proposal): string[] {
  const lines = (items: readonly Dropped[]) => items.map((item) => `  ${visibleLine(droppedWords(item))}`);
  return [
    `${visibleLine(source.file)}:`,
    ...visible(text)
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
    ...(gains.length === 0
      ? ["Your trust gives it nothing beyond your own policy"]
      : ["Without your trust it does not get:"]),
    ...lines(gains),
    ...(refused.length === 0 ? [] : ["With your trust it does not get either:"]),
    ...lines(refused),
  ];
}

async function isAccepted({ interruption }: Watch, io: Io): Promise<boolean> {
  const prompt = "Take it as your own words for this folder? yes or no: ";
  const onInterrupt = (): void => interruption.interrupt("SIGINT");
  const line = await askLine({ io, prompt, onInterrupt }, interruption.signal);
  return line !== undefined && /^(y|yes)$/i.test(line.trim());
}

/** `glovebox policy untrust`. */
export function untrustCommand(flags: { workspace?: string }, io: Io): Promise<number> {
  return watched(io, async ({ out }) => {
    const had = await untrustProject(flags.workspace ?? ".", surroundingsOf(io.env, io.secrets, io));
    out.line(had ? "No longer trusted" : "It was not trusted");
    return 0;
  });
}
