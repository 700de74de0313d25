import type { Attack } from "./attack.ts";
import { CARRIED_ATTACKS } from "./carried.ts";
import { HIDING_ATTACKS } from "./hiding.ts";
import { KERNEL_ATTACKS } from "./kernel.ts";
import { LIFE_ATTACKS } from "./lives.ts";
import { NAME_ATTACKS } from "./names.ts";
import { NETWORK_ATTACKS } from "./network.ts";
import { PATH_ATTACKS } from "./paths.ts";
import { PROCESS_ATTACKS } from "./processes.ts";
import { PROTECTION_ATTACKS } from "./protection.ts";
import { RESOURCE_ATTACKS } from "./resources.ts";
import { RULE_ATTACKS } from "./rules.ts";

/** Every attack that `glovebox doctor --attack` carries out, by id. */
export const ATTACKS: readonly Attack[] = [
  ...PATH_ATTACKS,
  ...PROTECTION_ATTACKS,
  ...HIDING_ATTACKS,
  ...PROCESS_ATTACKS,
  ...KERNEL_ATTACKS,
  ...RESOURCE_ATTACKS,
  ...NETWORK_ATTACKS,
  ...NAME_ATTACKS,
  ...CARRIED_ATTACKS,
  ...RULE_ATTACKS,
  ...LIFE_ATTACKS,
].toSorted((a, b) => a.id.localeCompare(b.id, "en"));
