import { type Answer, type Silence, urlsIn } from "./answer.ts";
import type { Programs } from "./programs.ts";

const PYTHON = ["python3", "python"];

/** Prints the index pip uses where nobody names one, and where that index keeps its files. */
const DEFAULTS =
  "from pip._internal.models.index import PyPI; print(PyPI.simple_url, 'https://' + PyPI.file_storage_domain)";

/** The indexes of pip's configuration, and its own where that names none. */
export async function askPip(programs: Programs): Promise<Answer | Silence> {
  const [config, defaults] = await Promise.all([
    programs.ask(PYTHON, ["-m", "pip", "config", "list"]),
    programs.ask(PYTHON, ["-c", DEFAULTS]),
  ]);
  if ("problem" in config) return config;
  const indexes = valuesOf(config.output, "index-url");
  const extra = valuesOf(config.output, "extra-index-url");
  if (indexes.length > 0) return { urls: [...indexes, ...extra] };
  if ("output" in defaults) return { urls: [...urlsIn(defaults.output), ...extra] };
  return { urls: extra, notes: [`does not tell its own index (it ${defaults.problem}); name that host yourself`] };
}

/** Lines such as `global.extra-index-url='https://a/simple https://b/simple'`. */
function valuesOf(output: string, key: string): string[] {
  const lines = output.split("\n").filter((line) => line.slice(0, line.indexOf("=")).split(".").at(-1) === key);
  return lines.flatMap((line) => urlsIn(line.replaceAll("\\n", " ")));
}
