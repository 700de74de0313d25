import type { Attack, Step } from "./attack.ts";
import { bytesOf, clientHello, httpRequest } from "./messages.ts";
import { CONTROL, EVIL, MIXED, PRIVATE, RAW_PORT } from "./outside.ts";
import { CUT, connection, dialogue, REACHED, TLS, WEB } from "./reached.ts";
import { calls } from "./steps.ts";

/** What is tried on connections to names that are admitted. */
export const CARRIED_ATTACKS: Attack[] = [
  {
    id: "N-32",
    title: "Another port of an admitted host",
    steps: () => [
      REACHED,
      calls("ECONNREFUSED", ...[25, 8443, 7778].map(connection)),
      calls(CUT, dialogue(CONTROL, 22, EVIL)),
    ],
  },
  {
    id: "N-46",
    title: "An admitted name that leads to the host itself",
    steps: () => [REACHED, calls(CUT, dialogue(PRIVATE, RAW_PORT, EVIL))],
  },
  {
    id: "N-47",
    title: "An admitted name with one address outside and one in a private network",
    steps: () => [REACHED, calls(CUT, dialogue(MIXED, RAW_PORT, EVIL))],
  },
  {
    id: "N-60",
    title: "A TLS connection that names another host",
    steps: () => [TLS, calls(CUT, dialogue(CONTROL, 443, clientHello(`www.${EVIL}`)))],
  },
  {
    id: "N-61",
    title: "A TLS connection that names none",
    steps: () => [TLS, calls(CUT, dialogue(CONTROL, 443, clientHello(undefined)))],
  },
  {
    id: "N-63",
    title: "Other bytes than TLS or HTTP where those belong",
    steps: () => [TLS, WEB, calls(CUT, ...[443, 80].map((port) => dialogue(CONTROL, port, `SECRET ${EVIL}\r\n`)))],
  },
  {
    id: "N-64",
    title: "A request for another host on an admitted connection",
    steps: () => [
      WEB,
      refused(
        dialogue(CONTROL, 80, httpRequest(EVIL)),
        dialogue(CONTROL, 80, httpRequest(CONTROL, `http://${EVIL}/`)),
        dialogue(CONTROL, 80, httpRequest(`${CONTROL}\r\nHost: ${EVIL}`)),
      ),
    ],
  },
  {
    id: "N-67",
    title: "A second request, to another host, on a connection that is kept",
    steps: () => [
      WEB,
      refused(
        `${dialogue(CONTROL, 80, httpRequest(CONTROL))}; own write $2 ${bytesOf(httpRequest(EVIL))}; net hear $2`,
        dialogue(
          CONTROL,
          80,
          `POST / HTTP/1.1\r\nHost: ${CONTROL}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${httpRequest(EVIL)}`,
        ),
      ),
    ],
  },
];

/** A request may be answered by the gate itself, which says why; what came out, the host's side knows. */
function refused(...lines: string[]): Step {
  const step = calls(`${CUT} ok`, ...lines);
  return {
    ...step,
    act: async (arena) => {
      const { holds, seen } = await step.act(arena);
      return { holds, seen: holds ? "answered by the gate, or cut" : seen };
    },
  };
}
