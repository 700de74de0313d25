import { type Bounds, boundsOf, meet, UNBOUND } from "./bounds.ts";
import { BUILT_IN_LAYER } from "./built-in.ts";
import { flagsWithoutEffect } from "./contradictions.ts";
import { type Dropped, droppedFrom } from "./dropped.ts";
import type { HostRule } from "./hosts.ts";
import { chooseImage } from "./image-choice.ts";
import { type Layer, NO_OPINION, type Ruled, type RuledList } from "./layer.ts";
import { chooseRuntime } from "./runtime-choice.ts";
import { over, withFlags } from "./stack.ts";

/** Everybody who has a say. What is absent says nothing. */
export type Layers = {
  organisation?: Layer | undefined;
  /** The person's file, or what takes its place for a run. */
  user?: Layer | undefined;
  project?: Layer | undefined;
  /** The person has read this very project file and taken its words as their own. */
  isProjectTrusted?: boolean | undefined;
  flags?: Layer | undefined;
};

export type Effective = {
  bounds: Bounds;
  /** The image and who chose it; undefined when no image is allowed to all. */
  image: Ruled<string> | undefined;
  /** The OCI runtime and who names it; undefined is the engine's own choice. */
  runtime: Ruled<string> | undefined;
  /** What was asked for beyond what binds, each with both rules. */
  dropped: Dropped[];
  /** Flags that change nothing, in words. */
  warnings: string[];
};

/** `organisation ⊓ (built-in ← user ← trusted project ← flags) ⊓ project`: pure. */
export function effectivePolicy(layers: Layers): Effective {
  const { organisation = NO_OPINION, project = NO_OPINION, flags = NO_OPINION } = layers;
  const person = wordsOfPerson(layers);
  const narrowing = boundsOfProject(project);
  const ceiling = meet(boundsOf(organisation), boundsOf(person));
  const bounds = [boundsOf(organisation), boundsOf(person), narrowing].reduce(meet, UNBOUND);
  const { image, dropped } = chooseImage({ organisation, person, project });
  const runtime = chooseRuntime({ organisation, person, project });
  return {
    bounds,
    image,
    runtime: runtime.chosen,
    dropped: [
      ...droppedFrom(person, boundsOf(organisation)),
      ...droppedFrom({ ...NO_OPINION, hosts: flags.hosts }, meet(boundsOf(person), narrowing)),
      ...droppedFrom(project, ceiling),
      ...dropped,
      ...runtime.dropped,
    ],
    warnings: flagsWithoutEffect(flags.hosts, wordsOfPerson({ ...layers, flags: undefined }).hosts),
  };
}

/** `built-in ← user ← trusted project ← flags`. */
export function wordsOfPerson({ user, project, isProjectTrusted, flags }: Layers): Layer {
  const trusted = isProjectTrusted && project ? withoutReach(project) : NO_OPINION;
  return withFlags([user ?? NO_OPINION, trusted].reduce(over, BUILT_IN_LAYER), flags ?? NO_OPINION);
}

/**
 * How a container is made, what of this machine and what of the networks around it can be reached is for users and
 * organisations: trust in a project's file does not reach so far.
 */
function withoutReach(layer: Layer): Layer {
  const { "sandbox.ptrace": _ptrace, ...choices } = layer.choices;
  const { "sandbox.runtime": _runtime, ...picks } = layer.picks;
  const { "network.forward": _forward, ...lists } = layer.lists;
  return { ...layer, choices, picks, lists, hosts: { ...layer.hosts, ...withPrivate(false, layer.hosts) } };
}

/** Private addresses are nothing that a project speaks of: its rules leave them to the others. */
export function boundsOfProject(project: Layer): Bounds {
  return boundsOf({ ...project, hosts: { ...project.hosts, ...withPrivate(true, project.hosts) } });
}

function withPrivate(isPrivate: boolean, { allow, ask }: Layer["hosts"]): Layer["hosts"] {
  const said = ({ rule, items }: RuledList<HostRule>): RuledList<HostRule> => ({
    rule,
    items: items.map((item) => ({ ...item, value: { ...item.value, private: isPrivate } })),
  });
  return { ...(allow && { allow: said(allow) }), ...(ask && { ask: said(ask) }) };
}
