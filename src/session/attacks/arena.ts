import type { Policy, PolicyLimits } from "../../policy/policy.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { type OpenPlain, openPlainSandbox } from "../plain-sandbox.ts";
import type { Surroundings } from "../surroundings.ts";
import { type Caller, callDirectly, Inside } from "./inside.ts";
import { arenaPolicy, type Owner, Scene } from "./scene.ts";

export type ArenaOptions = {
  /** The policy under attack. */
  policy: Policy;
  surroundings: Surroundings;
  /** Whom the workspace is given to where this process is root: commands then run as that user. */
  owner?: Owner;
  /** Makes the sandboxes; the real ones when omitted. */
  open?: OpenPlain;
  call?: Caller;
  onProgress?: (words: string) => void;
  signal: AbortSignal;
};

/** Where attacks take place: the scene on the host, and a sandbox with its workspace. Whoever opened it closes it. */
export class Arena implements AsyncDisposable {
  readonly scene: Scene;
  readonly policy: Policy;
  readonly inside: Inside;
  readonly surroundings: Surroundings;
  readonly #options: ArenaOptions;

  private constructor(options: ArenaOptions, parts: { scene: Scene; policy: Policy; inside: Inside }) {
    this.#options = options;
    this.surroundings = options.surroundings;
    this.scene = parts.scene;
    this.policy = parts.policy;
    this.inside = parts.inside;
  }

  /** @throws GloveboxError when there is no sandbox; nothing is left behind. */
  static async open(options: ArenaOptions): Promise<Arena> {
    const policy = arenaPolicy(options.policy);
    const scene = await Scene.create(policy, options.owner);
    try {
      const inside = await enter(options, { scene, policy, root: scene.workspace });
      return new Arena(options, { scene, policy, inside });
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A further sandbox on the same scene; whoever opens it closes it. */
  enter(root: string, change: Partial<Policy> = {}): Promise<Inside> {
    return enter(this.#options, { scene: this.scene, policy: { ...this.policy, ...change }, root });
  }

  /** The same arena with another sandbox in the first one's place. */
  with(inside: Inside): Arena {
    return new Arena(this.#options, { scene: this.scene, policy: this.policy, inside });
  }

  /** The policy with other limits, none of them looser. */
  tightened(limits: Partial<PolicyLimits>): Partial<Policy> {
    const entries = Object.entries(limits) as [keyof PolicyLimits, number][];
    const smaller = entries.map(([name, value]) => [name, Math.min(value, this.policy.limits[name])] as const);
    return { limits: { ...this.policy.limits, ...Object.fromEntries(smaller) } };
  }

  /** The user whom commands run as. */
  get user(): Owner {
    const { uid, gid } = this.inside.box.sandbox.facts;
    return { uid, gid };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.inside.close();
    } finally {
      await this.scene[Symbol.asyncDispose]();
    }
  }
}

type Place = { scene: Scene; policy: Policy; root: string };

async function enter(options: ArenaOptions, { scene, policy, root }: Place): Promise<Inside> {
  const { surroundings, signal, open = openPlainSandbox, call = callDirectly, onProgress = () => undefined } = options;
  const { userHome, home } = surroundings;
  const workspace = await openWorkspace(root, { userHome, gloveboxHome: home.root });
  // A secret of the controller's environment, which must not be found inside. No proxy is told of the suite's names.
  const env = { ...withoutProxies(surroundings.env), GLOVEBOX_ATTACK_SECRET: scene.secret };
  const box = await open(
    { workspace, policy, build: false, onProgress, onReaped: () => undefined, signal },
    { ...surroundings, env, dialler: scene.world.dialler },
  );
  const inside = new Inside(box, call, (text) => scene.hear(text));
  // The first result of an image without bash says so, beside what the command printed.
  await inside.shell("true");
  return inside;
}

function withoutProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_proxy$/i.test(name)));
}
