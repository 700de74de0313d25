import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Dialler } from "../../../src/egress/dialler.ts";
import { openEgress } from "../../../src/egress/egress.ts";
import { type HostApprover, NOBODY_TO_ASK } from "../../../src/egress/host-approver.ts";
import type { EgressFact } from "../../../src/egress/records.ts";
import type { UpstreamProxy } from "../../../src/egress/upstream-proxy.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { openSandbox, Place } from "../engine.ts";
import { PolicyPlace } from "../policy-place.ts";
import { words } from "../sandbox-contract.ts";
import type { World } from "./world.ts";

/** What a command came to: its exit code, and what the model reads, with the lines of ours at the end apart. */
export type Ran = { code: unknown; text: string; lines: string[] };

export type GatedOptions = {
  /** The user's policy, YAML; the built-in one when omitted. */
  policy?: string;
  image?: string;
  approver?: HostApprover;
  proxy?: UpstreamProxy;
  /** Certificates that servers behind opened TLS may be signed by. */
  trusted?: readonly string[];
  /** The world's own when omitted. */
  dialler?: Dialler;
  /** Where package managers and their settings are looked for. */
  env?: NodeJS.ProcessEnv;
};

type Parts = { place: Place; sandbox: Sandbox; facts: EgressFact[]; close: () => Promise<void> };

/** A sandbox on the real engine whose connections go to the world, judged as a session judges them. */
export class Gated implements AsyncDisposable {
  /** Its folder holds the programs of `inside/` and the authority's `ca.pem`. */
  readonly root: string;
  readonly sandbox: Sandbox;
  /** What a session would log. */
  readonly facts: EgressFact[];
  readonly #close: () => Promise<void>;
  #calls = 0;

  private constructor({ place, sandbox, facts, close }: Parts) {
    this.root = place.root;
    this.sandbox = sandbox;
    this.facts = facts;
    this.#close = close;
  }

  static async open(world: World, options: GatedOptions = {}): Promise<Gated> {
    const place = await Place.create();
    await cp(join(import.meta.dirname, "inside"), place.root, { recursive: true });
    await writeFile(join(place.root, "ca.pem"), world.authority.pem);
    const facts: EgressFact[] = [];
    const egress = await openEgress({
      policy: await policyFrom(options),
      dialler: options.dialler ?? world.dialler,
      proxy: options.proxy,
      authorities: options.trusted ?? [],
      approver: options.approver ?? NOBODY_TO_ASK,
      record: async (fact) => void facts.push(fact),
    });
    const image = options.image === undefined ? {} : { image: options.image };
    const opened = await openSandbox(place.root, { ...image, request: { outlet: egress } });
    const close = async (): Promise<void> => {
      await opened[Symbol.asyncDispose]();
      await egress.close();
      await place[Symbol.asyncDispose]();
    };
    return new Gated({ place, sandbox: opened.sandbox, facts, close });
  }

  /** Runs a command, for `seconds` at most. */
  async sh(command: string, seconds = 60): Promise<Ran> {
    const result = await this.sandbox.call(
      {
        tool: "bash",
        args: { command, timeout: seconds },
        deadlineMs: (seconds + 30) * 1000,
        callId: `call_${++this.#calls}`,
      },
      { signal: new AbortController().signal, onOutput: () => undefined },
    );
    const text = words(result);
    const lines = /((?:\n\[.*\])+)\s*$/.exec(text)?.[1]?.trim().split("\n") ?? [];
    return {
      code: result.details.exit_code ?? result.status,
      text,
      lines: lines.filter((line) => !line.startsWith("[exit code ")),
    };
  }

  /** The records of connections and names, each as `verdict host:port`. */
  verdicts(): string[] {
    return this.facts.flatMap((fact) =>
      fact.type === "egress" ? [`${fact.verdict} ${fact.host}${fact.port === null ? "" : `:${fact.port}`}`] : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

async function policyFrom({ policy = "", env = {} }: GatedOptions) {
  await using place = await PolicyPlace.create(env);
  await place.write("home/policy.yaml", policy);
  return (await place.load()).policy;
}
