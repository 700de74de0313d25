import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer, Silence } from "./answer.ts";
import { downloadUrls } from "./cargo-index.ts";
import { NotingProxy } from "./noting-proxy.ts";
import type { Programs } from "./programs.ts";

/** A package that needs another one, whose index cargo has to look at; a workspace of its own, so that none is searched. */
const MANIFEST = `[package]
name = "asked"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
anything = "*"
[workspace]
`;

/**
 * Where cargo looks for packages, with all that its configuration replaces: cargo itself is made to look, through a
 * proxy of ours that says no to everything, so that nothing leaves.
 */
export async function askCargo(programs: Programs): Promise<Answer | Silence> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-cargo-"));
  const proxy = await NotingProxy.open();
  try {
    await writeFile(join(folder, "Cargo.toml"), MANIFEST);
    const args = ["generate-lockfile", "--manifest-path", join(folder, "Cargo.toml")];
    const said = await programs.ask("cargo", args, {
      CARGO_HTTP_PROXY: proxy.url,
      CARGO_NET_RETRY: "0",
      // A toolchain that is missing is not fetched for the sake of a question.
      RUSTUP_AUTO_INSTALL: "0",
      // Nor are programs run that the configuration puts around the compiler.
      RUSTC_WRAPPER: "",
      RUSTC_WORKSPACE_WRAPPER: "",
    });
    if (proxy.asked.length > 0) return await withDownloads([...proxy.asked], programs);
    return { problem: "problem" in said ? said.problem : "looks at no host" };
  } finally {
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function withDownloads(asked: string[], { home }: Programs): Promise<Answer> {
  const downloads = await downloadUrls(join(home, ".cargo/registry/index"), asked);
  const files = downloads.map(({ file }) => file);
  if (downloads.length > 0) return { urls: [...asked, ...downloads.map(({ url }) => url)], files };
  const note =
    "does not know yet where its index keeps packages; fetch one on this machine, or name that host yourself";
  return { urls: asked, notes: [note] };
}
