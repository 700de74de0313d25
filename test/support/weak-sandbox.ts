import { CLOSED_OUTLET } from "../../src/core/outlet.ts";
import { textResult } from "../../src/core/tool-result.ts";
import { CallNumbers } from "../../src/sandbox/call-numbers.ts";
import { startToolHost } from "../../src/sandbox/channel.ts";
import { startContainer } from "../../src/sandbox/container.ts";
import type { ContainerSpec } from "../../src/sandbox/container-spec.ts";
import { resultOf } from "../../src/sandbox/docker-sandbox.ts";
import { removeContainer } from "../../src/sandbox/engine/containers.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { ToolHostConnection } from "../../src/sandbox/tool-host-connection.ts";
import { keepNothing } from "../../src/session/guarding.ts";
import { type OpenPlain, openPlainSandbox } from "../../src/session/plain-sandbox.ts";

type Weakening = (spec: Omit<ContainerSpec, "name" | "imageVolumes">) => Partial<ContainerSpec>;

/** A real sandbox with a container weaker than its policy says, which no self-test has seen. */
export function openWeak(weaken: Weakening): OpenPlain {
  return async (request, surroundings) => {
    const { sandbox: proper, engine, plan } = await openPlainSandbox(request, surroundings);
    await proper.close();
    const spec = { ...plan.spec, imageVolumes: [], ...weaken(plan.spec) };
    const container = await startContainer(engine.docker, spec, plan.prefix);
    const connection = new ToolHostConnection(
      await startToolHost(container.docker, plan.spec.user),
      { keep: keepNothing, outlet: CLOSED_OUTLET },
      new CallNumbers(),
    );
    // Its mounts are not those of the plan, which the tool host would not let pass.
    await connection.greet({ ...plan.hello, mounts: [] });
    const sandbox: Sandbox = {
      facts: { ...proper.facts, containerId: container.docker.id },
      failure: undefined,
      call: (call, options) =>
        connection.call(call, options).then(
          ({ outcome }) => resultOf(outcome),
          (error: unknown) => textResult("lost", String(error)),
        ),
      close: async () => {
        connection.destroy();
        await removeContainer(container.docker);
      },
    };
    return { sandbox, engine, plan };
  };
}
