// A new name in place of the old one, in the row of the list.

import {send} from "./documents.js";
import {refresh, rowOf} from "./list_pages.js";
import {text} from "./texts.js";

export function startRename(row) {
  const link = row.querySelector("td a");
  const input = Object.assign(document.createElement("input"), {value: row.dataset.name, maxLength: 255, required: true});
  input.setAttribute("aria-label", text("name"));
  input.autocomplete = "off";
  link.hidden = true;
  link.after(input);
  input.focus();
  // The name without its ending.
  const end = row.dataset.type === "file" ? row.dataset.name.lastIndexOf(".") : -1;
  input.setSelectionRange(0, end > 0 ? end : input.value.length);
  let isOver = false; // The removal of the field takes the focus from it.
  const stop = (takesFocus = true) => {
    if (isOver) return;
    isOver = true;
    input.remove();
    link.hidden = false;
    if (takesFocus) link.focus();
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") stop();
    if (event.key !== "Enter" || event.isComposing) return;
    // Enter would send the form around the list.
    event.preventDefault();
    if (input.value.trim() === row.dataset.name) stop();
    else if (input.reportValidity()) rename(row, input.value).finally(() => stop(false));
  });
  input.addEventListener("blur", () => stop(false));
}

async function rename(row, name) {
  const {id} = row.dataset;
  const form = document.createElement("form");
  form.method = "post";
  form.action = document.getElementById("selection").action.replace(/\/selection\/.*/, `/nodes/${id}/rename`);
  form.hidden = true;
  for (const [key, value] of Object.entries({csrf: document.querySelector("#selection [name=csrf]").value, name})) {
    form.append(Object.assign(document.createElement("input"), {name: key, value}));
  }
  try {
    await send(form);
    await refresh();
    rowOf(id)?.querySelector("a").focus();
  } catch {
    // The server's own page shows what is wrong.
    document.body.append(form);
    form.submit();
  }
}
