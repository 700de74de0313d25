import { type Bounds, boundsOf, meet, UNBOUND } from "./bounds.ts";
import { BUILT_IN_LAYER } from "./built-in.ts";
import { type Dropped, droppedFrom } from "./dropped.ts";
import { chooseImage } from "./image-choice.ts";
import { type Layer, NO_OPINION, type Ruled } from "./layer.ts";
import { chooseRuntime } from "./runtime-choice.ts";
import { over } from "./stack.ts";

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
};

/** `organisation ⊓ (built-in ← user ← trusted project ← flags) ⊓ project`: pure. */
export function effectivePolicy(layers: Layers): Effective {
  const { organisation = NO_OPINION, user = NO_OPINION, project = NO_OPINION, flags = NO_OPINION } = layers;
  const trusted = layers.isProjectTrusted ? withoutSandbox(project) : NO_OPINION;
  const person = [user, trusted, flags].reduce(over, BUILT_IN_LAYER);
  const ceiling = meet(boundsOf(organisation), boundsOf(person));
  const bounds = [organisation, person, project].map(boundsOf).reduce(meet, UNBOUND);
  const { image, dropped } = chooseImage({ organisation, person, project });
  const runtime = chooseRuntime({ organisation, person, project });
  return {
    bounds,
    image,
    runtime: runtime.chosen,
    dropped: [
      ...droppedFrom(person, boundsOf(organisation)),
      ...droppedFrom(project, ceiling),
      ...dropped,
      ...runtime.dropped,
    ],
  };
}

/** How a container is made is for users and organisations: trust in a project's file does not reach so far. */
function withoutSandbox(layer: Layer): Layer {
  const { "sandbox.ptrace": _ptrace, ...choices } = layer.choices;
  const { "sandbox.runtime": _runtime, ...picks } = layer.picks;
  return { ...layer, choices, picks };
}
