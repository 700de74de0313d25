/** Connections to one host in a second, and at once before: installers open hundreds, floods thousands. */
const A_SECOND = 100;
const AT_ONCE = 1000;
/** Hosts whose pace is remembered: as many as have names, and forwards. */
const MOST_HOSTS = 1024;

/** How fast connections to each host may follow each other: each one that is dialled has records of its own. */
export class Pace {
  readonly #hosts = new Map<string, { left: number; at: number }>();

  allows(host: string, now = performance.now()): boolean {
    const known = this.#hosts.get(host) ?? { left: AT_ONCE, at: now };
    const left = Math.min(AT_ONCE, known.left + ((now - known.at) / 1000) * A_SECOND);
    const isAllowed = left >= 1;
    this.#hosts.delete(host);
    this.#hosts.set(host, { left: isAllowed ? left - 1 : left, at: now });
    const [oldest] = this.#hosts.keys();
    if (this.#hosts.size > MOST_HOSTS && oldest !== undefined) this.#hosts.delete(oldest);
    return isAllowed;
  }
}
