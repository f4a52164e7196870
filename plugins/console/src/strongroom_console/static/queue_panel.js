// The panel with the uploads: a row for each file, the total, and what the user may do with them.

import {countText, durationText, sizeText, text} from "./texts.js";

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
