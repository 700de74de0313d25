import { type Answer, type Silence, urlsIn } from "./answer.ts";
import type { Programs, Said } from "./programs.ts";

/**
 * Not of the person's own packages, and without the files by which packages of this machine put folders on the path or
 * run code at every start: one that was installed to be edited makes the workspace such a folder.
 */
const ISOLATED = ["-I", "-S", "-c"];
const ENV = { PYTHONNOUSERSITE: "1", PYTHONDONTWRITEBYTECODE: "1" };

/** Where pip itself is. */
const PATH = `import sys, sysconfig
schemes = {"posix_prefix", "posix_local", "deb_system", "rpm_prefix"} & set(sysconfig.get_scheme_names())
sys.path += [sysconfig.get_path("purelib", scheme) for scheme in sorted(schemes)]`;

const pip = (args: string): string => `${PATH}
import runpy
sys.argv = ["pip", ${args}]
try:
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
except ImportError as error:
    sys.exit(str(error))`;

/** Prints the index pip uses where nobody names one, and where that index keeps its files. */
const DEFAULTS = `${PATH}
from pip._internal.models.index import PyPI
print(PyPI.simple_url, "https://" + PyPI.file_storage_domain)`;

/** The indexes of pip's configuration, and its own where that names none. */
export async function askPip(programs: Programs): Promise<Answer | Silence> {
  const ask = (code: string): Promise<Said> => programs.ask("pip", [...ISOLATED, code], ENV);
  const [config, defaults, debug] = await Promise.all([
    ask(pip(`"config", "list"`)),
    ask(DEFAULTS),
    ask(pip(`"config", "debug"`)),
  ]);
  if ("problem" in config) return config;
  const files = "output" in debug ? filesOf(debug.output) : [];
  const indexes = valuesOf(config.output, "index-url");
  const extra = valuesOf(config.output, "extra-index-url");
  if (indexes.length > 0) return { urls: [...indexes, ...extra], files };
  if ("output" in defaults) return { urls: [...urlsIn(defaults.output), ...extra], files };
  const note = `does not tell its own index (it ${defaults.problem}); name that host yourself`;
  return { urls: extra, files, notes: [note] };
}

/** Lines such as `  /etc/pip.conf, exists: True`. */
function filesOf(output: string): string[] {
  return [...output.matchAll(/^ *(\/.*), exists: /gm)].flatMap(([, file]) => file ?? []);
}

/** Lines such as `global.extra-index-url='https://a/simple https://b/simple'`. */
function valuesOf(output: string, key: string): string[] {
  const lines = output.split("\n").filter((line) => line.slice(0, line.indexOf("=")).split(".").at(-1) === key);
  return lines.flatMap((line) => urlsIn(line.replaceAll("\\n", " ")));
}
