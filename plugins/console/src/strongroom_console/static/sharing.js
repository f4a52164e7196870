// The dialog of sharing, over a list or as the content of its page. A person or group that is chosen has access at once.

import {adopted, fetchPage, sendFrom} from "strongroom/documents.js";
import "strongroom/passwords.js";

const ADDRESS = /^[^\s@,;:<>]+@[^\s@,;:<>]+\.[^\s@,;:<>]+$/;
const NUMBER = /^\+\d[\d ()-]{5,20}$/;
const SEARCH_AFTER = 250; // Milliseconds after the last key.
const hasMouse = matchMedia("(pointer: fine)");
let dialog = null; // That over the list.
let hasChanged = false;
let search = 0; // The timer of the latest one.

// Opens the page of sharing over the list.
export async function openSharing(url) {
  try {
    await show(await fetchPage(url));
  } catch {
    location.assign(url);
  }
}

async function show(page, place = "") {
  const source = page.querySelector("dialog.sharing");
  if (!dialog) await create(source);
  dialog.replaceChildren(...adopted(source), document.querySelector(".toasts"));
  prepareAddition(dialog);
  if (!dialog.open) dialog.showModal();
  focusPlace(place);
}

// Focuses what is wrong, the button of the popover that was used, the field for people, or under a finger, which would
// raise the keyboard, the heading.
function focusPlace(place) {
  const heading = dialog.querySelector("h2");
  heading.tabIndex = -1;
  const opener = place && dialog.querySelector(`[popovertarget="${CSS.escape(place)}"]`);
  (dialog.querySelector("[aria-invalid]") ?? (opener || (hasMouse.matches && field()) || heading)).focus();
}

const field = () => dialog.querySelector("[role=combobox]");

async function create(source) {
  dialog = document.importNode(source, false);
  dialog.removeAttribute("open");
  dialog.setAttribute("closedby", "any");
  document.body.append(dialog);
  dialog.addEventListener("submit", onSubmit);
  // Popovers within it close as well.
  dialog.addEventListener("close", (event) => event.target === dialog && leave());
  await loadStyle(dialog.dataset.style);
}

function leave() {
  document.body.append(document.querySelector(".toasts"));
  dialog.replaceChildren(document.createElement("p"));
  if (hasChanged) document.dispatchEvent(new CustomEvent("strongroom:changed"));
  hasChanged = false;
}

function loadStyle(href) {
  const link = Object.assign(document.createElement("link"), {rel: "stylesheet", href});
  return new Promise((resolve) => {
    for (const name of ["load", "error"]) link.addEventListener(name, resolve);
    document.head.append(link);
  });
}

function onSubmit(event) {
  const form = event.target;
  if (form.method !== "post" || form.dataset.isSent !== undefined) return;
  event.preventDefault();
  sendForm(form, event.submitter);
}

async function sendForm(form, submitter = null) {
  let answer = null;
  try {
    answer = await sendFrom(form, submitter, true);
    if (answer.isRefused && !answer.page.querySelector("dialog.sharing")) throw new Error(answer.url);
  } catch {
    // The server's own page shows what is wrong.
    form.dataset.isSent = "";
    return form.requestSubmit(submitter);
  }
  if (!answer.page.querySelector("dialog.sharing")) return location.assign(answer.url);
  hasChanged ||= !answer.isRefused;
  const report = answer.page.querySelector(".notice");
  const isRemoval = submitter?.hasAttribute("formaction");
  await show(answer.page, isRemoval ? "" : (submitter ?? form).closest("[popover]")?.id);
  if (answer.isRefused) keepPasswords(form);
  raise(report);
}

// The server does not send passwords back.
function keepPasswords(form) {
  for (const {id, value} of form.querySelectorAll("input[type=password]")) {
    const input = document.getElementById(id);
    if (input) input.value = value;
  }
}

// What was done is a toast, whose button undoes it. What failed stays in the dialog.
function raise(report) {
  const message = report?.querySelector("[role=status], [role=alert]");
  if (message?.getAttribute("role") === "alert") return dialog.querySelector(".sharing-body").prepend(document.adoptNode(message));
  if (!message) return;
  const undo = report.querySelector("form");
  const form = undo && document.adoptNode(undo);
  document.dispatchEvent(new CustomEvent("strongroom:toast", {detail: {
    message: message.textContent,
    action: form?.querySelector("button").textContent,
    onAction: () => sendForm(form),
  }}));
}

// An address or a number that is no member's is invited.
document.addEventListener("input", (event) => {
  const form = event.target.closest?.(".addition");
  const select = form?.querySelector("select[data-invite]");
  if (!select || !event.target.matches("[role=combobox]")) return;
  select.querySelector("option[data-new]")?.remove();
  const address = event.target.value.trim();
  if (ADDRESS.test(address) || NUMBER.test(address)) select.append(invitation(select, address));
}, true);

function invitation({dataset}, address) {
  const text = dataset.invite.replace("{address}", address);
  const option = new Option(text, `invite:${address}`);
  Object.assign(option.dataset, {new: "", name: text, address: dataset.inviteHint, initials: "+", color: "1"});
  return option;
}

// The choice by a key or the pointer leaves the focus in the field. A choice by leaving it only fills it in.
document.addEventListener("change", (event) => {
  const {target} = event;
  if (!target.matches(".sharing select[data-at-once]") || !target.value) return;
  if (document.activeElement?.matches("[role=combobox]")) target.form.requestSubmit();
});

// A space with more people than the page offers is searched by the server.
document.addEventListener("input", (event) => {
  const select = event.target.closest?.(".addition")?.querySelector("select[data-source]");
  if (!select || !event.isTrusted || !event.target.matches("[role=combobox]")) return;
  clearTimeout(search);
  select.dataset.missing ??= select.dataset.nothing;
  select.dataset.nothing = "…";
  search = setTimeout(() => offerFound(select, event.target), SEARCH_AFTER);
}, true);

async function offerFound(select, input) {
  const sought = input.value.trim();
  const page = await fetchPage(`${select.dataset.source}?find=${encodeURIComponent(sought)}`).catch(() => null);
  if (input.value.trim() !== sought || select.value) return;
  select.dataset.nothing = select.dataset.missing;
  if (page) select.replaceChildren(...[...page.getElementById(select.id).options].map((option) => document.adoptNode(option)));
  select.value = "";
  input.dispatchEvent(new InputEvent("input", {bubbles: true}));
}

function prepareAddition(root) {
  for (const button of root.querySelectorAll(".addition:has([data-at-once]) > button")) button.hidden = true;
}
prepareAddition(document);
