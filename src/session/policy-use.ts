import { admittedHosts } from "../policy/admitted-hosts.ts";
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

/** What of a policy makes a container, but for its mounts and limits. `commandDefaults`: under the image's variables. */
export function containerChoices(
  policy: Policy,
  own: NodeJS.ProcessEnv,
): {
  image: string | undefined;
  commandEnv: Record<string, string>;
  commandDefaults: Record<string, string>;
  sandbox: Policy["sandbox"];
} {
  return {
    image: imageOf(policy),
    commandEnv: commandEnvOf(policy, own),
    commandDefaults: admittedHosts(policy).length === 0 ? NO_RETRIES : {},
    sandbox: policy.sandbox,
  };
}

/** Where no host can be reached, package managers need not try for a minute. */
const NO_RETRIES = { npm_config_fetch_retries: "0", PIP_RETRIES: "0", CARGO_NET_RETRY: "0" };

/** The image to work in as a provider takes it: undefined is the one this version builds. */
export function imageOf({ image }: Policy): string | undefined {
  return image === "glovebox/base" ? undefined : image;
}
