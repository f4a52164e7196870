// The comfort of lists of files: selection, keys, further rows, a drawer with details, and moves by drag.

import "./drawer.js";
import "./keys.js";
import {prepareDrag} from "./drag.js";
import {prepareList, refresh} from "./list_pages.js";
import {prepareSelection} from "./selection.js";

const list = document.getElementById("list");

function prepareRows() {
  prepareSelection();
  prepareDrag();
}

if (list) {
  prepareList();
  prepareRows();
  list.addEventListener("strongroom:rows", prepareRows);
  document.addEventListener("strongroom:uploaded", () => refresh().catch(() => {}));
}
