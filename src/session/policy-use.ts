import type { Policy } from "../policy/policy.ts";

/** Variables of commands, over the image's. */
export function commandEnvOf({ env }: Policy, own: NodeJS.ProcessEnv): Record<string, string> {
  const passed = env.pass.flatMap(({ value: name }): [string, string][] => {
    const value = own[name];
    return value === undefined ? [] : [[name, value]];
  });
  const set = env.set.map(({ value }): [string, string] => {
    const at = value.indexOf("=");
    return [value.slice(0, at), value.slice(at + 1)];
  });
  return Object.fromEntries([...passed, ...set]);
}

/** What of a policy makes a container, but for its mounts and limits. */
export function containerChoices(
  policy: Policy,
  own: NodeJS.ProcessEnv,
): { image: string | undefined; commandEnv: Record<string, string>; sandbox: Policy["sandbox"] } {
  return { image: imageOf(policy), commandEnv: commandEnvOf(policy, own), sandbox: policy.sandbox };
}

/** The image to work in as a provider takes it: undefined is the one this version builds. */
export function imageOf({ image }: Policy): string | undefined {
  return image === "glovebox/base" ? undefined : image;
}
