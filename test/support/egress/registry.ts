import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import tar from "tar-stream";
import type { Site } from "./web-server.ts";

/** Makes a site, at `url`, a registry of npm with one package, `thing`, which exports 42. */
export async function serveRegistry(site: Site, url: string): Promise<void> {
  const pack = tar.pack();
  pack.entry({ name: "package/package.json" }, JSON.stringify({ name: "thing", version: "1.0.0" }));
  pack.entry({ name: "package/index.js" }, "module.exports = 42;\n");
  pack.finalize();
  const archive = gzipSync(await buffer(pack));
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  const version = { name: "thing", version: "1.0.0", dist: { tarball: `${url}/thing/-/thing-1.0.0.tgz`, integrity } };
  const about = JSON.stringify({ name: "thing", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } });
  site.extra.set("/thing/-/", (_request, response) => void (response as ServerResponse).end(archive));
  site.extra.set("/thing", (_request, response) => void (response as ServerResponse).end(about));
}
