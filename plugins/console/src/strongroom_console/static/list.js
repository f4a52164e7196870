// The comfort of lists of files: what is done with rows, and changes of other users.

// Before the panel, whose links its buttons are.
import {prepareDrag, prepareList, prepareSelection, refresh} from "./rows.js";
import "./drawer.js";

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

// The dialog of sharing is loaded when it opens first.
const {sharing} = document.getElementById("texts").dataset;
const share = async (url) => (await import(sharing)).openSharing(url);
document.addEventListener("strongroom:share", ({detail}) => share(detail));
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href$="/share"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  share(link.href);
}, true);

if (list) {
  prepareList();
  prepareRows();
  list.addEventListener("strongroom:rows", prepareRows);
  for (const name of ["strongroom:uploaded", "strongroom:changed"]) document.addEventListener(name, () => refresh().catch(() => {}));
}
