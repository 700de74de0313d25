import { isJsonObject } from "../core/json.ts";
import type { CallFragment } from "./chat-chunk.ts";

/** Opaque fields of a call that the provider wants back unchanged. */
export type ExtraContent = Readonly<Record<string, unknown>> | undefined;

/** A call while it is being streamed. */
export type OpenCall = { index: number | undefined; id: string; name: string; arguments: string; extra: ExtraContent };

/** Fragments that fit no call: joining them by guess would run a call the model never made. */
export class AmbiguousFragment extends Error {}

/**
 * Puts the fragments of tool calls together. `index` finds the call; servers that leave it out (O-LLM-01) or call every
 * call 0 (O-LLM-02) are told apart by id, name, and whether what is there is already complete.
 */
export class CallAssembly {
  readonly calls: OpenCall[] = [];

  /** Adds the fragments of one chunk. Returns the calls that began with it. */
  add(fragments: readonly CallFragment[]): OpenCall[] {
    if (fragments.filter(isNameless).length > 1) {
      throw new AmbiguousFragment("a chunk has several parts of tool calls with neither index, id nor name");
    }
    return fragments.flatMap((fragment) => this.#addOne(fragment));
  }

  #addOne(fragment: CallFragment): OpenCall[] {
    const known = this.#callOf(fragment);
    const call = known ?? this.#begin(fragment);
    call.name = fragment.function?.name || call.name;
    call.id ||= fragment.id ?? "";
    call.extra = fragment.extra_content ?? call.extra;
    call.arguments += argumentText(fragment.function?.arguments);
    return known ? [] : [call];
  }

  #begin(fragment: CallFragment): OpenCall {
    if (isNameless(fragment)) {
      throw new AmbiguousFragment("a part of a tool call has neither index, id nor name, and no call is open");
    }
    const call = { index: fragment.index ?? undefined, id: "", name: "", arguments: "", extra: undefined };
    this.calls.push(call);
    return call;
  }

  #callOf(fragment: CallFragment): OpenCall | undefined {
    const { index, id } = fragment;
    if (typeof index !== "number") {
      const sameId = id ? this.calls.findLast((call) => call.id === id) : undefined;
      return sameId ?? continued(this.calls.at(-1), fragment);
    }
    return continued(
      this.calls.findLast((call) => call.index === index),
      fragment,
    );
  }
}

function continued(call: OpenCall | undefined, fragment: CallFragment): OpenCall | undefined {
  return call && !beginsAnother(call, fragment) ? call : undefined;
}

function beginsAnother(call: OpenCall, fragment: CallFragment): boolean {
  const { id } = fragment;
  const name = fragment.function?.name;
  if (id && call.id) return id !== call.id && (Boolean(name) || isComplete(call.arguments));
  if (!name || call.name === "") return false;
  return name !== call.name || isComplete(call.arguments);
}

function isNameless({ index, id, function: called }: CallFragment): boolean {
  return typeof index !== "number" && !id && !called?.name;
}

function isComplete(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Some servers send the arguments as the object they are meant to be the text of. */
function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
