/** What a call would do, in terms policy can judge. Paths as the model wrote them. */
export type Effect =
  | { kind: "read"; path: string }
  | { kind: "write"; path: string }
  | { kind: "exec"; command: string }
  | { kind: "net"; host: string; port: number };

export type EffectKind = Effect["kind"];

/** What the policy says of an effect. `rule` is the id of the rule that decided, `enableWith` what a person could do. */
export type Decision =
  | { type: "allow"; rule: string }
  | { type: "ask"; rule: string; enableWith: string }
  | { type: "deny"; rule: string; enableWith: string };
