// The uploads of a page: some at a time, in the order in which they were added.

const PARALLEL = 3;
const MEASURED = 5000; // Milliseconds that the speed is measured over.

export class Queue {
  transfers = [];
  #samples = [];

  // onChange is called with each transfer whose state or progress has changed.
  constructor(onChange) {
    this.onChange = onChange;
    addEventListener("online", () => this.transfers.forEach((transfer) => transfer.hurry()));
  }

  add(transfers) {
    this.transfers.push(...transfers);
    this.proceed();
  }

  // Starts what may be started.
  proceed() {
    const free = PARALLEL - this.count("sending", "retrying");
    const waiting = this.transfers.filter((transfer) => transfer.state === "waiting");
    for (const transfer of waiting.slice(0, Math.max(0, free))) transfer.start();
  }

  count(...states) {
    return this.transfers.filter((transfer) => states.includes(transfer.state)).length;
  }

  get isBusy() {
    return this.count("waiting", "sending", "retrying") > 0;
  }

  pauseAll() {
    for (const transfer of this.#of("waiting", "sending", "retrying")) transfer.pause();
  }

  resumeAll() {
    for (const transfer of this.#of("paused")) this.resume(transfer);
  }

  // Also another attempt after a failure.
  resume(transfer) {
    transfer.state = "waiting";
    this.onChange(transfer);
    this.proceed();
  }

  cancelAll() {
    for (const transfer of this.#of("waiting", "sending", "retrying", "paused")) transfer.cancel();
  }

  clear() {
    this.transfers = [];
    this.#samples = [];
  }

  #of(...states) {
    return this.transfers.filter((transfer) => states.includes(transfer.state));
  }

  // Returns the bytes of all files that are not cancelled, and how many of them are sent.
  get total() {
    const counted = this.transfers.filter((transfer) => transfer.state !== "cancelled");
    const sum = (member) => counted.reduce((total, transfer) => total + transfer[member], 0);
    return {count: counted.length, size: sum("size"), sent: sum("sent")};
  }

  // Returns the bytes per second of the last seconds, and the seconds left; null: unknown.
  measure(now = performance.now()) {
    const {size, sent} = this.total;
    this.#samples = [...this.#samples.filter(({at}) => at > now - MEASURED), {at: now, sent}];
    const [first] = this.#samples;
    const elapsed = (now - first.at) / 1000;
    const speed = elapsed > 0.5 ? Math.max(0, sent - first.sent) / elapsed : null;
    return {speed, left: speed ? (size - sent) / speed : null};
  }
}
