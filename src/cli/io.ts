import type { Secrets } from "../core/secrets.ts";

export type OutputStream = NodeJS.WritableStream & {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  rows?: number | undefined;
};

export type InputStream = NodeJS.ReadableStream & {
  isTTY?: boolean | undefined;
  setRawMode?: ((raw: boolean) => unknown) | undefined;
};

/** All that a command touches of its process. */
export type Io = {
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  /** Without secrets. */
  env: NodeJS.ProcessEnv;
  secrets: Secrets;
  cwd: string;
  userHome: string;
  /** Where signals are heard. */
  signals: Pick<NodeJS.EventEmitter, "on" | "off">;
  /** Ends the process at once. */
  exit: (code: number) => void;
};
