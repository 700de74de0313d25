import { type Answer, type Silence, urlsIn } from "./answer.ts";
import type { Programs } from "./programs.ts";

/** The sites of apt's sources. */
export async function askApt(programs: Programs): Promise<Answer | Silence> {
  const said = await programs.ask("apt", ["indextargets", "--format", "$(SITE)"]);
  return "problem" in said ? said : { urls: urlsIn(said.output) };
}
