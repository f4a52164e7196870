// The comfort of lists of files: selection, keys, further rows, a drawer with details, and moves by drag.

import "./row_menu.js"; // Before the drawer, whose links its buttons are.
import "./drawer.js";
import "./keys.js";
import {prepareDrag} from "./drag.js";
import {prepareList, refresh} from "./list_pages.js";
import {prepareSelection} from "./selection.js";

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
