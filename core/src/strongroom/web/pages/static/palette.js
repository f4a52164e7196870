// The search of everything in a dialog: the combobox of the ARIA Authoring Practices with a list box, whose options
// are the links of the results.

import {fetchPage} from "./documents.js";
import {countText} from "./texts.js";

const PAUSE = 150; // Milliseconds without a key before a request.

let dialog, input, list, status, source, timer, asked = 0, isPending = false, isEntered = false;

export function open(element, url) {
  if (!dialog) begin(element);
  source = url;
  if (dialog.open) return input.select();
  document.querySelectorAll(":popover-open").forEach((menu) => menu.hidePopover());
  dialog.showModal();
  input.value = "";
  input.focus();
  search();
}

function begin(element) {
  dialog = element;
  [input, list, status] = ["input", "[role=listbox]", "[role=status]"].map((selector) => dialog.querySelector(selector));
  input.addEventListener("input", () => {
    clearTimeout(timer);
    [isPending, isEntered] = [true, false];
    timer = setTimeout(search, PAUSE);
  });
  input.addEventListener("keydown", onKey);
  list.addEventListener("pointermove", (event) => choose(event.target.closest("[role=option]"), false));
  list.addEventListener("click", (event) => follow(event.target.closest("[role=option]"), event));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

async function search() {
  const number = ++asked;
  const url = new URL(source);
  url.pathname += "/results";
  url.searchParams.set("q", input.value.trim());
  list.parentElement.ariaBusy = true;
  try {
    const page = await fetchPage(url);
    if (number === asked) show(page);
  } catch {
    // Without the results, the page of the search says why.
    if (number === asked && input.value) location.assign(pageUrl());
  }
}

function pageUrl() {
  const url = new URL(source);
  url.searchParams.set("q", input.value.trim());
  return url;
}

function show(page) {
  let count = 0;
  const groups = [...page.querySelectorAll("section")].map((section) => {
    const heading = section.querySelector("h2");
    const group = made("div", "group", heading.id);
    const title = Object.assign(document.createElement("div"), {id: heading.id, className: "palette-kind", textContent: heading.textContent});
    group.append(title, ...[...section.querySelectorAll("a")].map((link) => option(link, ++count)));
    return group;
  });
  const rest = groups.length ? [] : [...page.querySelectorAll("main > p")].map((item) => document.adoptNode(item));
  list.replaceChildren(...groups, ...rest);
  isPending = false;
  list.parentElement.ariaBusy = null;
  status.textContent = status.dataset.counted.replace("{count}", countText(count));
  choose(list.querySelector("[role=option]"));
  // Enter has been pressed before the results of the text were there.
  if (isEntered) follow(list.querySelector("[role=option]"));
}

function made(name, role, labelId) {
  const element = document.createElement(name);
  element.setAttribute("role", role);
  if (labelId) element.setAttribute("aria-labelledby", labelId);
  return element;
}

function option(link, number) {
  const row = made("div", "option");
  row.id = `palette-${number}`;
  row.dataset.path = link.getAttribute("href");
  row.append(...[...link.childNodes].map((node) => document.adoptNode(node)));
  return row;
}

function choose(row, scrolls = true) {
  if (row === null && list.querySelector("[role=option]")) return;
  for (const other of list.querySelectorAll("[role=option]")) other.setAttribute("aria-selected", String(other === row));
  input.setAttribute("aria-activedescendant", row?.id ?? "");
  if (scrolls) row?.scrollIntoView({block: "nearest"});
}

function onKey(event) {
  if (event.isComposing) return;
  const rows = [...list.querySelectorAll("[role=option]")], at = rows.findIndex((row) => row.ariaSelected === "true");
  const next = {ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 8, rows.length - 1), PageUp: Math.max(at - 8, 0)}[event.key];
  if (next !== undefined) {
    event.preventDefault();
    if (rows.length) choose(rows.at(next % rows.length));
  } else if (event.key === "Enter") {
    event.preventDefault();
    if (isPending) isEntered = true;
    else follow(rows[at], event);
  }
}

function follow(row, event) {
  if (!row) return;
  if (event?.ctrlKey || event?.metaKey) return window.open(row.dataset.path, "_blank", "noopener");
  dialog.close();
  location.assign(row.dataset.path);
}
