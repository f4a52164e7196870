// The uploads of a page, and the panel that shows them.

import {countText, sizeText} from "strongroom/texts.js";
import {durationText, text} from "./texts.js";

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

// The panel with the uploads: a row for each file, the total, and what the user may do with them.

const MOST_ROWS = 100; // A folder may have ten thousand files.
const INTERVAL = 250; // Milliseconds between two looks at the progress.

export class QueuePanel {
  #rows = new Map();
  #seen = new WeakSet();
  #timer = 0;

  constructor(element, queue) {
    Object.assign(this, {element, queue});
    this.list = element.querySelector("ul");
    this.template = element.querySelector("template");
    element.addEventListener("click", (event) => this.#act(event.target.closest("button[data-act]")));
  }

  show() {
    this.element.hidden = false;
    this.refresh();
    this.#timer ||= setInterval(() => this.#tick(), INTERVAL);
  }

  // Shows the state of a file. Progress is shown by the timer, because it changes a thousand times.
  update(transfer) {
    const row = this.#rows.get(transfer);
    if (row && row.dataset.state !== transfer.state) this.#show(row, transfer);
  }

  announce(message) {
    this.element.querySelector("[aria-live]").textContent = message;
  }

  refresh() {
    this.#fill();
    const {queue, element} = this;
    const {count, size, sent} = queue.total;
    const {speed, left} = queue.measure();
    const done = queue.count("done");
    const parts = [text("queue-count", {done: countText(done), count: countText(count)}), `${sizeText(sent)} / ${sizeText(size)}`];
    if (queue.isBusy && speed) parts.push(`${sizeText(speed)}/s`, text("queue-left", {time: durationText(left)}));
    element.querySelector("summary span").textContent = parts.join(" · ");
    const bar = element.querySelector("progress.total");
    [bar.max, bar.value] = [Math.max(1, size), size ? sent : done];
    const isPaused = queue.count("paused") > 0;
    const offered = {"pause-all": queue.isBusy, "resume-all": isPaused, "cancel-all": queue.isBusy || isPaused, close: !queue.isBusy && !isPaused};
    for (const [act, isOffered] of Object.entries(offered)) {
      const button = element.querySelector(`[data-act=${act}]`);
      // The focus stays in the panel when its button goes.
      if (!isOffered && button === document.activeElement) element.querySelector("summary").focus();
      button.hidden = !isOffered;
    }
  }

  #tick() {
    this.refresh();
    for (const [transfer, row] of this.#rows) if (transfer.isActive) this.#show(row, transfer);
    if (!this.queue.isBusy) {
      clearInterval(this.#timer);
      this.#timer = 0;
    }
  }

  // Shows further files as others are done.
  #fill() {
    const unseen = this.queue.transfers.filter((transfer) => !this.#seen.has(transfer));
    for (const [transfer, row] of unseen.length ? [...this.#rows] : []) {
      if (this.#rows.size < MOST_ROWS) break;
      if (transfer.state === "done" && !row.contains(document.activeElement)) {
        row.remove();
        this.#rows.delete(transfer);
      }
    }
    for (const transfer of unseen.slice(0, Math.max(0, MOST_ROWS - this.#rows.size))) this.#append(transfer);
  }

  #append(transfer) {
    const row = this.template.content.firstElementChild.cloneNode(true);
    row.querySelector("bdi").textContent = row.querySelector("bdi").title = transfer.path;
    for (const part of row.querySelectorAll("button")) part.setAttribute("aria-label", `${part.textContent.trim()}: ${transfer.path}`);
    row.querySelector("progress").setAttribute("aria-label", transfer.path);
    this.#rows.set(transfer, row);
    this.#seen.add(transfer);
    this.#show(row, transfer);
    this.list.append(row);
  }

  #show(row, transfer) {
    const {state, size, sent} = transfer;
    row.dataset.state = state;
    const share = size ? Math.floor((100 * sent) / size) : 0;
    const states = {
      sending: `${share} % · ${sizeText(size)}`,
      paused: `${text("queue-paused")} · ${share} %`,
      failed: transfer.isLoggedOut ? text("queue-logged-out") : transfer.problem || text("queue-failed"),
    };
    row.querySelector("small").textContent = states[state] ?? text(`queue-${state}`);
    const bar = row.querySelector("progress");
    [bar.max, bar.value] = [Math.max(1, size), sent];
    bar.hidden = !transfer.isActive && state !== "paused";
    const offered = {
      pause: transfer.isActive || state === "waiting",
      resume: state === "paused",
      retry: state === "failed",
      cancel: !["done", "cancelled"].includes(state),
    };
    for (const [act, isOffered] of Object.entries(offered)) {
      const button = row.querySelector(`[data-act=${act}]`);
      const isFocused = button === document.activeElement;
      button.hidden = !isOffered;
      if (isFocused && !isOffered) (row.querySelector("button:not([hidden])") ?? this.element.querySelector("summary")).focus();
    }
  }

  #act(button) {
    if (!button) return;
    const {queue} = this;
    const row = button.closest("li");
    const [transfer] = [...this.#rows].find(([, item]) => item === row) ?? [];
    const acts = {
      pause: () => transfer.pause(),
      resume: () => queue.resume(transfer),
      retry: () => queue.resume(transfer),
      cancel: () => transfer.cancel(),
      "pause-all": () => queue.pauseAll(),
      "resume-all": () => queue.resumeAll(),
      "cancel-all": () => queue.cancelAll(),
    };
    if (button.dataset.act === "close") return this.#close();
    acts[button.dataset.act]();
    queue.proceed();
    this.show();
  }

  #close() {
    this.element.hidden = true;
    this.queue.clear();
    this.#rows.clear();
    this.list.replaceChildren();
  }
}
