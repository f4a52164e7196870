// The selection of rows: all, a range with Shift, and the bar of actions with the number of selected rows.

import {rows, table} from "./list_pages.js";
import {countText, text} from "./texts.js";

let anchor = null; // The row that a range begins at.

export const isChosen = (row) => row.querySelector("input[name=node]").checked;
export const chosenRows = () => rows().filter(isChosen);

export function choose(row, isOn = !isChosen(row)) {
  row.querySelector("input[name=node]").checked = isOn;
  anchor = row;
  showSelection();
}

// Chooses all rows between the last chosen one and this one.
export function chooseRange(row) {
  const all = rows();
  const ends = [all.indexOf(anchor?.isConnected ? anchor : row), all.indexOf(row)].sort((a, b) => a - b);
  for (const between of all.slice(ends[0], ends[1] + 1)) between.querySelector("input[name=node]").checked = true;
  showSelection();
}

export function chooseAll(isOn = true) {
  for (const row of rows()) row.querySelector("input[name=node]").checked = isOn;
  showSelection();
}

// Puts the box that chooses all rows into the head of the table.
export function prepareSelection() {
  const cell = table()?.querySelector("thead .choice");
  if (!cell || cell.querySelector("input")) return showSelection();
  const box = Object.assign(document.createElement("input"), {type: "checkbox", id: "choose-all"});
  box.setAttribute("aria-label", text("select-all"));
  box.addEventListener("change", () => chooseAll(box.checked));
  cell.replaceChildren(box);
  showSelection();
}

function showSelection() {
  const count = chosenRows().length;
  const box = document.getElementById("choose-all");
  if (box) {
    box.checked = count > 0 && count === rows().length;
    box.indeterminate = count > 0 && !box.checked;
  }
  const bar = document.getElementById("actions");
  if (!bar) return;
  bar.classList.toggle("raised", count > 0);
  const state = bar.querySelector("output") ?? bar.insertBefore(document.createElement("output"), bar.firstChild);
  state.textContent = count ? text("selected", {count: countText(count)}) : "";
}

document.addEventListener("click", (event) => {
  const row = event.target.closest("#nodes tr[data-id]");
  if (!row || event.target.closest("a, button, input:not([name=node]), label")) return;
  if (event.shiftKey) {
    if (event.target.type === "checkbox") event.target.checked = true;
    chooseRange(row);
    getSelection().removeAllRanges();
  } else if (event.target.type === "checkbox") choose(row, event.target.checked);
  else choose(row);
});
