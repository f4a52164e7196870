// The parts of pages: menus, toasts and copies. All pages work without it.

import {prepareParts} from "./documents.js";

const TOAST_SHOWN = 8000; // Milliseconds, unless the pointer or the focus is on it.
const DONE_SHOWN = 2000;
const HEARD_AFTER = 100; // A region is announced if its text changes after it is there.
const GAP = 4;

export const icons = document.documentElement.dataset.icons;

// Returns an icon of the sprite.
export function icon(name, size = 18) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const attributes = {class: "icon", width: size, height: size, "aria-hidden": "true"};
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
  svg.append(document.createElementNS(space, "use"));
  svg.firstChild.setAttribute("href", `${icons}#${name}`);
  return svg;
}

// Menus: arrows move, and the menu is placed where style sheets cannot. Events of popovers do not bubble.
document.addEventListener("toggle", (event) => {
  const popup = event.target;
  if (!(popup instanceof HTMLElement && popup.matches(".popup"))) return;
  if (event.newState !== "open") return;
  place(popup);
  entries(popup)[0]?.focus({preventScroll: true});
}, true);

function place(popup) {
  const button = document.querySelector(`[popovertarget="${CSS.escape(popup.id)}"]`);
  if (!button || CSS.supports("position-area", "bottom") || matchMedia("(max-width: 34rem)").matches) return;
  const edge = button.getBoundingClientRect(), {offsetWidth, offsetHeight} = popup;
  const isBelow = edge.bottom + offsetHeight + GAP < innerHeight && !popup.matches(".above");
  const left = popup.matches(".end") ? edge.right - offsetWidth : edge.left;
  popup.style.top = `${isBelow ? edge.bottom : Math.max(edge.top - offsetHeight - 2 * GAP, 0)}px`;
  popup.style.left = `${Math.max(GAP, Math.min(left, innerWidth - offsetWidth - GAP))}px`;
}

const entries = (popup) => [...popup.querySelectorAll("a[href], button, input, select")].filter((item) => item.checkVisibility());

document.addEventListener("keydown", (event) => {
  const popup = event.target.closest?.(".popup");
  if (!popup || event.target.matches("input, select")) return;
  const all = entries(popup), at = all.indexOf(document.activeElement);
  const next = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1}[event.key];
  if (next === undefined || !all.length) return;
  event.preventDefault();
  all.at(next % all.length).focus();
});

// An entry that is chosen closes its menu.
document.addEventListener("click", (event) => {
  const item = event.target.closest(".popup-item");
  if (item && !item.hasAttribute("data-stays")) item.closest("[popover]")?.hidePopover();
});

// Toasts of the page, and toasts of the event "strongroom:toast" with {message, action, onAction, tone}.
const stack = Object.assign(document.createElement("div"), {className: "toasts"});
document.body.append(stack);
for (const item of document.querySelectorAll(".toast")) raise(item);

document.addEventListener("strongroom:toast", ({detail}) => {
  const {message, action, onAction, tone} = detail;
  const item = Object.assign(document.createElement("div"), {className: `toast ${tone ?? ""}`});
  item.setAttribute("role", tone === "bad" ? "alert" : "status");
  item.append(icon(tone === "bad" ? "circle-alert" : "circle-check"), Object.assign(document.createElement("span"), {textContent: message}));
  if (action) {
    const button = Object.assign(document.createElement("button"), {type: "button", className: "ghost", textContent: action});
    button.addEventListener("click", () => { item.remove(); onAction(); });
    item.append(button);
  }
  raise(item);
});

function raise(item) {
  stack.append(item);
  const close = item.querySelector("[data-dismiss]");
  if (close) {
    close.hidden = false;
    close.addEventListener("click", () => item.remove());
  }
  const lapse = () => (item.matches(":hover, :focus-within") ? setTimeout(lapse, DONE_SHOWN) : item.remove());
  if (!item.matches(".bad, [data-stays]")) setTimeout(lapse, TOAST_SHOWN);
}

// The bar of a selection counts the rows.
function count(bar) {
  const {length} = bar.closest("form").querySelectorAll("tbody input[type=checkbox]:checked");
  bar.querySelector("output").textContent = bar.dataset.counted.replace("{count}", length);
}
const bars = document.querySelectorAll("form .selection-bar[data-counted]");
bars.forEach(count);
document.addEventListener("change", () => bars.forEach(count));

// Browsers without invoker commands: buttons open and close dialogs.
if (!("commandForElement" in HTMLButtonElement.prototype)) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[commandfor]");
    const dialog = button && document.getElementById(button.getAttribute("commandfor"));
    if (!(dialog instanceof HTMLDialogElement)) return;
    if (button.getAttribute("command") === "show-modal") dialog.showModal();
    else dialog.close();
  });
}

// A refused form is in its window again.
document.querySelector("dialog[data-opens]")?.showModal();

// A picture has a skeleton until it is there.
prepareParts((root) => {
  for (const picture of root.querySelectorAll(".waits > img")) {
    if (picture.complete && picture.ownerDocument === document) continue;
    picture.parentElement.ariaBusy = true;
    picture.onload = picture.onerror = () => { picture.parentElement.ariaBusy = null; };
  }
});

// Tabs are one row, which a phone scrolls.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({block: "nearest", inline: "nearest"});

// Copies the text of an element, or of the button itself, and says so.
prepareParts((root) => {
  for (const button of root.querySelectorAll("[data-copy], [data-copy-text]")) button.hidden = false;
});
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-text]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  await copy(button.dataset.copyText ?? source.dataset.text ?? source.value ?? source.innerText.trim(), button);
  announce(button.dataset.copied, button);
  if (button.matches(".done")) return;
  const former = [...button.childNodes];
  button.classList.add("done");
  button.replaceChildren(icon("check"), ...(button.matches(".icon-button") ? [] : [button.dataset.copied]));
  setTimeout(() => {
    button.classList.remove("done");
    button.replaceChildren(...former);
  }, DONE_SHOWN);
});

async function copy(text, button) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers have no clipboard for pages without HTTPS, but copy a selection.
  const field = Object.assign(document.createElement("textarea"), {className: "unseen", value: text});
  button.after(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  button.focus();
}

// Tells screen readers, also those in a dialog, whose surroundings are silent.
const announcer = Object.assign(document.createElement("p"), {className: "unseen"});
announcer.setAttribute("aria-live", "polite");

function announce(text, element) {
  (element.closest("dialog") ?? document.body).append(announcer);
  announcer.textContent = "";
  setTimeout(() => { announcer.textContent = text; }, HEARD_AFTER);
}

// Times as people say them: "2 hours ago", "Mon 14:20", "12 Nov". The full time is the title, by zone.js.
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR, WEEK = 7 * DAY;
const language = document.documentElement.lang;
const relative = new Intl.RelativeTimeFormat(language, {numeric: "auto"});
const clock = {hour: "2-digit", minute: "2-digit", hourCycle: "h23"};

export function wordsOf(moment, now = new Date()) {
  const age = now - moment, isPast = age >= 0, size = Math.abs(age);
  const say = (unit, name) => relative.format(-Math.round(age / unit), name);
  if (size < MINUTE) return relative.format(0, "second");
  if (size < HOUR) return say(MINUTE, "minute");
  if (size < DAY) return say(HOUR, "hour");
  if (isPast && size < WEEK) return moment.toLocaleString(language, {weekday: "short", ...clock});
  const year = moment.getFullYear() === now.getFullYear() ? {} : {year: "numeric"};
  return moment.toLocaleDateString(language, {day: "numeric", month: "short", ...year});
}

function showAges() {
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    const words = wordsOf(moment);
    if (time.textContent !== words) time.textContent = words;
  }
}
showAges();
setInterval(showAges, MINUTE);

// Drop areas: the browser takes the files, and the area shows that it would.
for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    event.target.closest?.(".drop-area")?.classList.toggle("over", name === "dragenter" || name === "dragover");
  });
}

document.addEventListener("change", ({target}) => {
  const hint = target.closest(".drop-area")?.querySelector(".first");
  if (hint) hint.textContent = [...target.files].map((file) => file.name).join(", ");
});

// The key of a search.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, [contenteditable], dialog")) return;
  const input = document.querySelector(`input[data-key="${CSS.escape(event.key)}"]`);
  if (!input) return;
  event.preventDefault();
  input.focus();
});

// A form that takes long shows it at its button, which cannot be pressed again meanwhile.
document.addEventListener("submit", (event) => {
  const {target, submitter} = event;
  if (!target.hasAttribute("data-busy") || event.defaultPrevented) return;
  const timer = setTimeout(() => submitter?.setAttribute("aria-busy", "true"), 300);
  addEventListener("pageshow", () => { clearTimeout(timer); submitter?.removeAttribute("aria-busy"); }, {once: true});
});
