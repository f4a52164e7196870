// The list follows the changes of other users: a small question every few seconds while the window is visible.

import {refresh} from "./list_pages.js";

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
