// The list by keyboard: each key does what a button or link of the page does.

import {rows, showMore, table, unfold} from "./list_pages.js";
import {startRename} from "./rename.js";
import {choose, chooseAll, chooseRange, chosenRows, isChosen} from "./selection.js";

const linkOf = (row) => row.querySelector("td a");
const current = () => document.activeElement?.closest("#nodes tr[data-id]") ?? null;

function focusRow(row) {
  if (!row) return;
  unfold(row.parentElement);
  linkOf(row).focus();
  row.scrollIntoView({block: "nearest"});
}

// In the view of tiles, the rows above and below are further away.
function columns() {
  const isGrid = table().classList.contains("grid");
  return isGrid ? getComputedStyle(table().tBodies[0]).gridTemplateColumns.split(" ").length : 1;
}

async function move(step, isRange) {
  const all = rows();
  const from = all.indexOf(current());
  const index = from < 0 ? (step > 0 ? 0 : all.length - 1) : from + step;
  if (index >= all.length) {
    await showMore();
    return focusRow(rows()[index] ?? all.at(-1));
  }
  focusRow(all[Math.max(0, index)]);
  if (isRange) {
    if (from >= 0 && !isChosen(all[from])) choose(all[from], true);
    chooseRange(all[Math.max(0, index)]);
  }
}

function remove() {
  const row = current();
  if (row && !chosenRows().length) choose(row, true);
  if (chosenRows().length) document.querySelector('#selection button[formaction$="/selection/delete"]')?.click();
}

const ANYWHERE = {
  "/": () => (document.querySelector("input[type=search]") ?? document.querySelector("input[name=name]"))?.focus(),
  "?": () => document.getElementById("keys")?.showModal(),
  ArrowDown: (event) => move(columns(), event.shiftKey),
  ArrowUp: (event) => move(-columns(), event.shiftKey),
  ArrowRight: (event) => table().classList.contains("grid") && move(1, event.shiftKey),
  ArrowLeft: (event) => table().classList.contains("grid") && move(-1, event.shiftKey),
  Delete: remove,
};
const IN_ROW = {
  Home: () => focusRow(rows()[0]),
  End: () => focusRow(rows().at(-1)),
  " ": (event) => (event.shiftKey ? chooseRange(current()) : choose(current())),
  F2: () => startRename(current()),
  Escape: () => chooseAll(false),
};

document.addEventListener("keydown", (event) => {
  const {target} = event;
  if (event.defaultPrevented || event.altKey || event.isComposing || document.querySelector("dialog:modal") || event.target.closest("dialog")) return;
  const isTyping = target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]");
  if (isTyping) return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() === "a" && current()) {
      event.preventDefault();
      chooseAll();
    }
    return;
  }
  // The keys of a control belong to it: Space of a button, arrows of a player.
  const isFree = target === document.body || target.closest("#nodes");
  const isOfRow = current() && !(event.key === " " && target.type === "checkbox");
  const act = (isOfRow && IN_ROW[event.key]) || ((isFree || "/?".includes(event.key)) && table() && ANYWHERE[event.key]);
  if (!act) return;
  event.preventDefault();
  act(event);
});

// One row is renamed where it stands.
document.addEventListener("click", (event) => {
  const isRename = event.target.closest('#selection button[formaction$="/selection/rename"]');
  if (!isRename || chosenRows().length !== 1) return;
  event.preventDefault();
  startRename(chosenRows()[0]);
});
