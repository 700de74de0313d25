import { isAbsolute } from "node:path";
import { type Answer, type Silence, urlsIn } from "./answer.ts";
import type { Programs } from "./programs.ts";

/** The proxies that go asks for modules, and its database of checksums. */
export async function askGo(programs: Programs): Promise<Answer | Silence> {
  const said = await programs.ask("go", ["env", "GOPROXY", "GOSUMDB", "GOENV"], { GOTOOLCHAIN: "local" });
  if ("problem" in said) return said;
  const [proxies = "", database = "", file = ""] = said.output.split("\n");
  return { urls: [...urlsIn(proxies), ...databaseOf(database)], files: isAbsolute(file) ? [file] : [] };
}

/** `NAME`, `NAME+KEY` or `NAME+KEY URL`; `off` is none. */
function databaseOf(text: string): string[] {
  const [name = "", url] = text.trim().split(/\s+/);
  if (name === "" || name === "off") return [];
  return url === undefined ? [`https://${name.split("+")[0]}`] : urlsIn(url);
}
