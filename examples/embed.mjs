// The smallest program that embeds glovebox: `node examples/embed.mjs [FOLDER]` after `npm run build`.
// With a real model: leave `model` out and set OPENAI_API_KEY and OPENAI_MODEL.
import { homedir } from "node:os";
import { join } from "node:path";
import { runPrompt, surroundingsOf, takeSecrets } from "../dist/index.js"; // from a project: "glovebox"

// First of all: keys leave the environment, so that no child process and no other package sees one.
const secrets = takeSecrets(process.env);
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const result = await runPrompt(
  {
    prompt: "What is in this folder, and what can you reach from it?",
    workspace: process.argv[2] ?? ".",
    model: `scripted:${join(import.meta.dirname, "look-around.yaml")}`,
    image: undefined,
    build: true,
    approve: undefined,
    person: undefined,
    maxTurns: 20,
    maxSeconds: 600,
    modelRetries: undefined,
    onEvent: (event) => {
      if (event.type === "tool_result") console.error(`${event.tool_name}: ${event.status}`);
    },
    onProgress: (words) => console.error(words),
    onReaped: () => undefined,
    onRecovered: () => undefined,
    signal: stop.signal,
    urgent: stop.signal,
  },
  surroundingsOf(process.env, secrets, { cwd: process.cwd(), userHome: homedir() }),
);
console.log(result.outcome, result.turns, result.result);
process.exitCode = result.exit_code;
