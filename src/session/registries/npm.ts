import * as z from "zod";
import type { Answer, Silence } from "./answer.ts";
import type { Programs } from "./programs.ts";

/** The registry of npm's configuration, and those of scopes. */
export async function askNpm(programs: Programs): Promise<Answer | Silence> {
  const said = await programs.ask("npm", ["config", "list", "--json"]);
  if ("problem" in said) return said;
  const config = configOf(said.output);
  if (!config) return { problem: "does not print its configuration as JSON" };
  const isRegistry = (key: string): boolean => key === "registry" || /^@[^:]+:registry$/.test(key);
  return {
    urls: Object.entries(config).flatMap(([key, value]) => (isRegistry(key) ? [String(value)] : [])),
    files: ["userconfig", "globalconfig"].map((key) => config[key]).filter((file) => typeof file === "string"),
  };
}

function configOf(output: string): Record<string, unknown> | undefined {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(output)).data;
  } catch {
    return undefined;
  }
}
