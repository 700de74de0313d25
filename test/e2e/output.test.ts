import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mapStrings } from "../../src/core/json.ts";
import { isWellFormed } from "../../src/core/truncate.ts";
import { ChatServer, D, END, F, says, sse, tc } from "../support/chat-server.ts";
import { cli, Place } from "../support/engine.ts";

/** The strings of a JSON text that are not well-formed, escapes read. */
function broken(json: string): string[] {
  const found: string[] = [];
  mapStrings(JSON.parse(json), (text) => {
    if (!isWellFormed(text)) found.push(text);
    return text;
  });
  return found;
}

/** The repro of the reports: the limit lands in a different byte of a character for each. */
const flood = (before: number): string =>
  JSON.stringify({
    command: `printf 'a%.0s' $(seq 1 ${before}); for i in $(seq 20000); do printf '🚀'; done; echo`,
  });

it("O-OUT-01 cuts at each byte of a character, and a call with half a one, leave log and requests well-formed", async () => {
  await using place = await Place.create();
  await using server = await ChatServer.start(
    sse([
      D({ role: "assistant", content: "Half: \ud83d" }),
      ...[1, 2, 3, 4].map((before, index) => D(tc(index, `c${before}`, "bash", flood(before)))),
      // The arguments themselves are JSON in ASCII; what they say is not well-formed.
      D(tc(4, "c5", "write", '{"path":"f","content":"a\\ud83d"}')),
      F("tool_calls"),
      END,
    ]),
    says("Done."),
  );
  const { code, stdout } = await cli(["run", "--json", "--workspace", place.root, "--model", "m", "go"], {
    env: { GLOVEBOX_HOME: join(place.folder, "h"), OPENAI_API_KEY: "sk-x-0123456789", OPENAI_BASE_URL: server.url },
  });
  expect([code, broken(stdout)]).toEqual([0, []]);
  const [, second] = server.requests;
  // The arguments of a call are JSON in JSON.
  const inner: string[] = second?.body.messages.flatMap(
    (message: { tool_calls?: { function: { arguments: string } }[] }) =>
      (message.tool_calls ?? []).map((one) => one.function.arguments),
  );
  expect(inner.length).toBe(5);
  expect([second?.text ?? "", ...inner].flatMap(broken)).toEqual([]);
  const results: string[] = second?.body.messages.flatMap((message: { role: string; content: string }) =>
    message.role === "tool" ? [message.content] : [],
  );
  for (const content of results.slice(0, 4)) {
    expect(content).toMatch(
      /^🚀+\n\[output cut: shown are the last 1 of 1 line, its beginning cut, 50\.0 KiB of 78\.1 KiB; /u,
    );
  }
  expect(results[4]).toContain("half of a surrogate pair");
  const log = await readFile(JSON.parse(stdout).session_file, "utf8");
  expect(log.trimEnd().split("\n").flatMap(broken)).toEqual([]);
  expect(
    (
      await cli(["sessions", "show", JSON.parse(stdout).session_id], {
        env: { GLOVEBOX_HOME: join(place.folder, "h") },
      })
    ).code,
  ).toBe(0);
});
