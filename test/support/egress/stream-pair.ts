import { MuxStream, type MuxWire } from "../../../src/protocol/mux-stream.ts";

/** The two ends of a stream as the channel carries one: `program` is the container's, `host` the controller's. */
export function streamPair(): { program: MuxStream; host: MuxStream } {
  const program: MuxStream = new MuxStream(
    1,
    wireTo(() => host),
  );
  const host: MuxStream = new MuxStream(
    1,
    wireTo(() => program),
  );
  return { program, host };
}

function wireTo(other: () => MuxStream): MuxWire {
  const later = (act: () => void): void => void setImmediate(act);
  return {
    data: (_id, body, sent) =>
      later(() => {
        other().receive(body);
        sent();
      }),
    end: (_id, sent) =>
      later(() => {
        other().receiveEnd();
        sent();
      }),
    credit: (_id, body) => later(() => other().receiveCredit(body.readUInt32BE())),
    reset: (_id, reason) => later(() => other().receiveReset(reason)),
    closed: () => undefined,
  };
}
