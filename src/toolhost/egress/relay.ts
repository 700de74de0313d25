import type { Socket } from "node:net";
import type { MuxStream } from "../../protocol/mux-stream.ts";

/**
 * Carries bytes both ways until both have ended: an end is passed on as an end, a reset as a reset. Calls `over` once,
 * when neither side is open any more.
 */
export function relay(socket: Socket, stream: MuxStream, over: () => void): void {
  let open = 2;
  const closed = (): void => {
    if (--open === 0) over();
  };
  socket.on("error", (error) => stream.destroy(error));
  socket.on("close", () => {
    // After both have ended, what the program sent last may still be on its way.
    if (!socket.readableEnded || !stream.readableEnded) stream.destroy(new Error("the program closed the connection"));
    closed();
  });
  stream.on("close", () => {
    // What the host refused or broke off must not look like an answer that is complete.
    if (!stream.readableEnded || !stream.writableFinished) socket.resetAndDestroy();
    closed();
  });
  socket.pipe(stream);
  stream.pipe(socket);
}
