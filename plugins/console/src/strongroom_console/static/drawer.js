// The details of a row in a panel at the side of its list, which stays in use. All of it is the page of the row.
// The dialog has the beginnings of the paths of such pages; links below the first one open in the panel.

import {adopted, fetchPage, sendFrom} from "strongroom/documents.js";

const drawer = document.getElementById("drawer");
const content = drawer?.querySelector("article");
const hasRoom = matchMedia("(min-width: 1000px)");
const prefixes = drawer?.dataset.prefixes.split(" ") ?? [];
const rows = () => [...document.querySelectorAll("tr[data-id]")];
const rowOf = (id) => rows().find((row) => row.dataset.id === id);
let shown = null; // The id of the row.
let opener = null;
let asked = 0;

// Returns the id in the path of a page, and what follows it; nothing for other pages and other servers.
function subjectOf(url, beginnings = prefixes) {
  const {origin, pathname} = new URL(url, location.href);
  const begin = origin === location.origin && beginnings.find((prefix) => pathname.startsWith(prefix) && pathname !== prefix);
  const [, id, tab] = begin ? /^([^/]+)\/?(.*)$/.exec(pathname.slice(begin.length)) ?? [] : [];
  return id && {id: decodeURIComponent(id), tab};
}

export async function openDrawer(url, takesFocus = true) {
  const number = asked += 1;
  open();
  content.parentElement.ariaBusy = true;
  try {
    const page = await fetchPage(url);
    if (number !== asked) return;
    show(page, url);
    if (takesFocus) focusHeading();
  } catch {
    if (number === asked) location.assign(url);
  }
}

function open() {
  if (drawer.open) return;
  opener = document.activeElement;
  hasRoom.matches ? drawer.show() : drawer.showModal();
}

function show(page, url) {
  const sheet = page.querySelector("main .sheet");
  for (const link of sheet.querySelectorAll('a[href^="?"]')) link.href = new URL(link.getAttribute("href"), url).href;
  renameIds(sheet);
  content.replaceChildren(...adopted(sheet));
  drawer.scrollTop = 0;
  drawer.querySelector("a[data-page]").href = url;
  open();
  content.querySelector(".tabs [aria-current]")?.scrollIntoView({block: "nearest", inline: "nearest"});
  content.parentElement.ariaBusy = null;
  mark(url);
}

function focusHeading() {
  const heading = content.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({preventScroll: true});
}

function mark(url) {
  shown = subjectOf(url, prefixes.slice(0, 1))?.id ?? shown;
  for (const row of rows()) row.classList.toggle("current", drawer.open && row.dataset.id === shown);
  const at = rows().findIndex((row) => row.dataset.id === shown);
  for (const button of drawer.querySelectorAll("[data-step]")) button.disabled = at < 0 || !rows()[at + Number(button.dataset.step)];
}

// Shows the same tab of the row before or after, if all rows have it.
function step(by) {
  const all = rows();
  const row = all[all.findIndex((one) => one.dataset.id === shown) + by];
  if (!row) return;
  const tab = subjectOf(drawer.querySelector("a[data-page]").href)?.tab;
  const isKept = drawer.dataset.tabs.split(" ").includes(tab);
  row.scrollIntoView({block: "nearest"});
  opener = row.querySelector("td a");
  const {href} = [...row.querySelectorAll("td a")].find((link) => subjectOf(link.href)?.tab === "");
  openDrawer(isKept ? `${href.replace(/\/$/, "")}/${tab}` : href);
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
  if (!subjectOf(answer.url)) return location.assign(answer.url);
  show(answer.page, answer.url);
  focusHeading();
  // The list reads its rows again.
  document.dispatchEvent(new CustomEvent("strongroom:changed"));
}

// The ids of the list are taken: a label must find the field of its own form.
function renameIds(root) {
  const renamed = (id) => (root.querySelector(`#${CSS.escape(id)}`) ? `drawer-${id}` : id);
  const references = ["for", "aria-labelledby", "aria-describedby", "aria-controls", "data-copy", "popovertarget", "commandfor", "href"];
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
    const link = event.target.closest("tr[data-id] a, #drawer article a");
    const isPlain = !event.defaultPrevented && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!isPlain || !link || link.hasAttribute("download") || !subjectOf(link.href, prefixes.slice(0, 1))) return;
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
  // The event of a list that shows other rows.
  document.addEventListener("strongroom:rows", () => drawer.open && mark(""));
  // Players stop.
  drawer.addEventListener("close", () => {
    asked += 1;
    content.parentElement.ariaBusy = null;
    content.replaceChildren();
    for (const row of rows()) row.classList.remove("current");
  });
}
