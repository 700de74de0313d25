import { expect, it } from "vitest";
import { Journal } from "../../src/agent/journal.ts";
import { RunClock } from "../../src/agent/limits.ts";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { ABSENT_APPROVER } from "../../src/gate/approver.ts";
import { ToolGate } from "../../src/gate/tool-gate.ts";
import { BUILT_IN_POLICY } from "../../src/policy/policy.ts";
import { toolOffers } from "../../src/tools/catalogue.ts";
import { performCall } from "../support/perform-call.ts";

const OK: ToolResult = { status: "ok", content: [], details: {} };

it("the duration of a call is its own, also while the clock of the run stands still for a question", async () => {
  const clock = new RunClock(600);
  const { result, durationMs } = await performCall(
    { type: "tool_call", id: "1", name: "bash", arguments: '{"command":"true"}' },
    {
      gate: new ToolGate({ policy: BUILT_IN_POLICY, approver: ABSENT_APPROVER, askAlways: false }),
      journal: new Journal({ append: (fact) => Promise.resolve(fact), show: () => undefined }),
      clock,
      callSeconds: 600,
      tools: toolOffers(),
      steer: () => undefined,
      sandbox: {
        failure: undefined,
        call: async () => {
          clock.pause();
          await new Promise((resolve) => setTimeout(resolve, 30));
          clock.resume();
          return OK;
        },
      },
    },
    new AbortController().signal,
  );
  expect([result, durationMs >= 25, clock.usedSeconds * 1000 < durationMs]).toEqual([OK, true, true]);
});
