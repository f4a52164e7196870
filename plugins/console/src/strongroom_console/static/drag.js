// Rows that are dragged onto a folder are moved there. The button that moves does the same.

import {rows} from "./list_pages.js";
import {choose, chooseAll, chosenRows, isChosen} from "./selection.js";
import {text} from "./texts.js";

const TYPE = "application/x-strongroom-nodes";
const mover = () => document.querySelector('#selection button[formaction$="/selection/move"]');

export function prepareDrag() {
  for (const row of mover() ? rows() : []) row.draggable = true;
}

// Returns the folder that the pointer is over: a row that is not dragged itself, or the top level.
function targetOf(event) {
  const row = event.target.closest?.('#nodes tr[data-type="folder"]');
  return row && !isChosen(row) && event.dataTransfer.types.includes(TYPE) ? row : null;
}

document.addEventListener("dragstart", (event) => {
  const row = event.target.closest?.("#nodes tr[draggable=true]");
  if (!row) return;
  if (!isChosen(row)) {
    chooseAll(false);
    choose(row, true);
  }
  event.dataTransfer.setData(TYPE, "");
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setDragImage(label(), -12, -12);
});

function label() {
  const element = document.getElementById("dragged");
  element.textContent = text("selected", {count: chosenRows().length});
  return element;
}

document.addEventListener("dragover", (event) => {
  const row = targetOf(event);
  mark(row);
  if (row) event.preventDefault();
});
document.addEventListener("dragend", () => mark(null));
document.addEventListener("drop", (event) => {
  const row = targetOf(event);
  mark(null);
  if (!row) return;
  event.preventDefault();
  moveInto(row.dataset.id);
});

function mark(row) {
  for (const marked of document.querySelectorAll("#nodes tr.target")) marked.classList.toggle("target", marked === row);
  row?.classList.add("target");
}

function moveInto(id) {
  const form = document.getElementById("selection");
  form.append(Object.assign(document.createElement("input"), {type: "hidden", name: "at", value: id}));
  form.action = `${mover().formAction}-here`;
  form.submit();
}
