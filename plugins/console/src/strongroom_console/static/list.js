// The comfort of lists of files: what is done with rows, the panel of a file, and changes of other users.

import {adopted, fetchPage, sendFrom} from "./documents.js";
// Before the panel, whose links its buttons are.
import {prepareDrag, prepareList, prepareSelection, refresh, rowOf, rows} from "./rows.js";

// The details of a file in a panel at the side of the list, which stays in use. All of it is the page of the file.

const drawer = document.getElementById("drawer");
const content = drawer?.querySelector("article");
const hasRoom = matchMedia("(min-width: 1000px)");
let shown = null; // The id of the node.
let opener = null;

export async function openDrawer(url, takesFocus = true) {
  try {
    show(await fetchPage(url), url);
    if (takesFocus) focusHeading();
  } catch {
    location.assign(url);
  }
}

function show(page, url) {
  const sheet = page.querySelector("main .sheet");
  renameIds(sheet);
  content.replaceChildren(...adopted(sheet));
  drawer.scrollTop = 0;
  drawer.querySelector("a[data-page]").href = url;
  if (!drawer.open) {
    opener = document.activeElement;
    hasRoom.matches ? drawer.show() : drawer.showModal();
  }
  mark(url);
}

function focusHeading() {
  const heading = content.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({preventScroll: true});
}

function mark(url) {
  shown = /\/nodes\/([^/?]+)/.exec(url)?.[1] ?? shown;
  for (const row of rows()) row.classList.toggle("current", drawer.open && row.dataset.id === shown);
  const at = rows().findIndex((row) => row.dataset.id === shown);
  for (const button of drawer.querySelectorAll("[data-step]")) button.disabled = at < 0 || !rows()[at + Number(button.dataset.step)];
}

// Shows the same tab of the row before or after.
function step(by) {
  const all = rows();
  const row = all[all.findIndex((one) => one.dataset.id === shown) + by];
  if (!row) return;
  const tab = /\/nodes\/[^/?]+(\/(?:share|access))/.exec(drawer.querySelector("a[data-page]").href)?.[1] ?? "";
  row.scrollIntoView({block: "nearest"});
  opener = row.querySelector("td a");
  openDrawer(`${row.querySelector("[data-more]").href}${tab}`);
}

function close() {
  const isInside = drawer.contains(document.activeElement);
  drawer.close();
  if (isInside) (opener?.isConnected ? opener : rowOf(shown)?.querySelector("td a"))?.focus();
}

// Sends a form of the panel, and shows what follows in it.
async function sendForm(form, submitter) {
  let answer = null;
  try {
    answer = await sendFrom(form, submitter);
  } catch {
    // The server's own page shows what is wrong.
    form.dataset.isSent = "";
    return form.requestSubmit(submitter ?? undefined);
  }
  if (!/\/(nodes|shares)\/[^/]/.test(new URL(answer.url).pathname)) return location.assign(answer.url);
  show(answer.page, answer.url);
  focusHeading();
  refresh().then(() => mark(answer.url)).catch(() => {});
}

// The ids of the list are taken: a label must find the field of its own form.
function renameIds(root) {
  const renamed = (id) => (root.querySelector(`#${CSS.escape(id)}`) ? `drawer-${id}` : id);
  const references = ["for", "aria-labelledby", "aria-describedby", "aria-controls", "href"];
  for (const name of references) {
    for (const element of root.querySelectorAll(`[${name}]`)) {
      const value = element.getAttribute(name);
      if (name === "href" && !value.startsWith("#")) continue;
      const ids = name === "href" ? [value.slice(1)] : value.split(/\s+/);
      element.setAttribute(name, (name === "href" ? "#" : "") + ids.map(renamed).join(" "));
    }
  }
  for (const element of root.querySelectorAll("[id]")) element.id = `drawer-${element.id}`;
}

if (drawer) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#nodes a, #drawer article a");
    const isPlain = !event.defaultPrevented && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!isPlain || !link?.matches('[href*="/nodes/"]:not([download])')) return;
    event.preventDefault();
    openDrawer(link.href);
  });
  drawer.addEventListener("submit", (event) => {
    const method = event.submitter?.getAttribute("formmethod") ?? event.target.method;
    if (method !== "post" || event.target.dataset.isSent !== undefined) return;
    event.preventDefault();
    sendForm(event.target, event.submitter);
  });
  drawer.addEventListener("click", (event) => {
    const button = event.target.closest("[data-step], [data-close]");
    if (button) button.dataset.step ? step(Number(button.dataset.step)) : close();
  });
  document.addEventListener("keydown", (event) => {
    if (!drawer.open || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && !drawer.matches(":modal") && !document.querySelector(":popover-open, dialog:modal")) return close();
    const by = {ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1}[event.key];
    if (!by || !drawer.contains(event.target) || event.target.closest("input, select, textarea, audio, video, [tabindex='0'], [role=listbox]")) return;
    event.preventDefault();
    step(by);
  });
  document.addEventListener("strongroom:details", (event) => openDrawer(event.detail));
  document.getElementById("list").addEventListener("strongroom:rows", () => drawer.open && mark(""));
  // Players stop.
  drawer.addEventListener("close", () => {
    content.replaceChildren();
    for (const row of rows()) row.classList.remove("current");
  });
}

// The list follows the changes of other users: a small question every few seconds while the window is visible.

const EVERY = 10_000; // Milliseconds.
const LONGEST = 300_000; // After failures.

const nodes = document.getElementById("list")?.dataset.news;
let cursor = null;
let pause = EVERY;
let timer = 0;

// What the user does just now would be lost.
const isBusy = () => document.querySelector("#nodes input[maxlength], #row-menu:popover-open, dialog:modal, #nodes .target");

async function poll() {
  try {
    const answer = await fetch(cursor === null ? nodes : `${nodes}?cursor=${cursor}`, {redirect: "error"});
    if (answer.status === 403 || answer.status === 404) return;
    if (!answer.ok) throw new Error(answer.status);
    const news = await answer.json();
    pause = EVERY;
    if (news.hasNews && isBusy()) return plan();
    cursor = news.cursor;
    if (news.hasNews) await refresh();
  } catch {
    pause = Math.min(2 * pause, LONGEST);
  }
  plan();
}

function plan(after = pause) {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(poll, after);
}

if (nodes) {
  document.addEventListener("visibilitychange", () => plan(cursor === null ? EVERY : 0));
  plan(0);
}

// The comfort of lists of files: selection, keys, further rows, a drawer with details, and moves by drag.

const list = document.getElementById("list");

// Choices that narrow the list apply at once.
document.querySelector(".filters select")?.addEventListener("change", (event) => event.target.form.elements.q.value && event.target.form.requestSubmit());

// A menu that opens takes the focus.
document.addEventListener("toggle", (event) => {
  if (event.target.matches?.(".creation details[open]")) event.target.querySelector("input:not([type=hidden])")?.focus();
}, true);

function prepareRows() {
  for (const time of list.querySelectorAll("time[datetime]:not([title])")) {
    time.title = new Date(time.dateTime).toLocaleString(document.documentElement.lang, {dateStyle: "full", timeStyle: "long"});
  }
  prepareSelection();
  prepareDrag();
}

if (list) {
  prepareList();
  prepareRows();
  list.addEventListener("strongroom:rows", prepareRows);
  document.addEventListener("strongroom:uploaded", () => refresh().catch(() => {}));
}
