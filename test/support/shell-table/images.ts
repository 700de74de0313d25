import type { Engine } from "../../../src/sandbox/engine/engine.ts";
import { baseRef, buildTestImage, removeTestImage } from "../test-image.ts";
import type { ImageName } from "./row.ts";

const BUSYBOX = (base: string): string => `FROM ${base} AS build
USER root
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends busybox-static
RUN mkdir -p /out/bin && cp /bin/busybox /out/bin/ && cd /out/bin && \\
  for applet in $(./busybox --list); do [ $applet = busybox ] || ln -s busybox $applet; done
FROM scratch
COPY --from=build /out /
`;

const ONLY_SH = (base: string): string => `FROM ${base} AS build
RUN mkdir -p /out/bin && cp /bin/dash /out/bin/sh && \\
  for file in $(ldd /bin/dash | grep -o '/[^ ]*'); do cp --parents -L $file /out; done
FROM scratch
COPY --from=build /out /
`;

/** The images of the table, built side by side; ours needs nothing. */
export type TableImages = { ref: Record<ImageName, Promise<string | undefined>>; remove: () => Promise<void> };

export function buildTableImages(engine: Engine): TableImages {
  const base = baseRef(engine);
  const build = (name: string, lines: string): Promise<string> =>
    buildTestImage(engine.docker, `glovebox-test/table-${name}:${process.pid}`, lines);
  const busybox = build("busybox", BUSYBOX(base));
  const sh = build("sh", ONLY_SH(base));
  const made = [busybox, sh];
  // Whoever needs one hears of it.
  for (const image of made) image.catch(() => undefined);
  return {
    ref: { base: Promise.resolve(undefined), busybox, sh },
    async remove() {
      for (const ended of await Promise.allSettled(made))
        if (ended.status === "fulfilled") await removeTestImage(engine.docker, ended.value);
    },
  };
}
