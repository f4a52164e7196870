// Comfort of all pages: questions before dangerous changes, and copies. All pages work without it.

import {prepare} from "./documents.js";

const DONE_SHOWN = 2000; // Milliseconds that a button shows that it has copied.

prepare(document);

// Without a script, nothing can be copied.
for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;

// Asks before the form is sent. Without a script, the server asks where it matters.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-confirm], input[data-confirm]");
  if (!button || button.dataset.isConfirmed !== undefined) return;
  event.preventDefault();
  ask(button.dataset.confirm, button.textContent.trim(), () => {
    button.dataset.isConfirmed = "";
    button.click();
    delete button.dataset.isConfirmed;
  });
});

// Shows a question; its second button has the label of the change, as "Yes" would say less.
export function ask(question, label, onYes) {
  const dialog = document.getElementById("question");
  const yes = dialog.querySelector("button[value=yes]");
  dialog.querySelector("p").textContent = question;
  yes.textContent = label || yes.dataset.label;
  dialog.returnValue = "";
  dialog.addEventListener("close", () => dialog.returnValue === "yes" && onYes(), {once: true});
  dialog.showModal();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  await copy(source?.value ?? source?.textContent.trim() ?? button.dataset.copy, source);
  const {label = button.textContent} = button.dataset;
  Object.assign(button.dataset, {label});
  button.textContent = button.dataset.done || label;
  setTimeout(() => { button.textContent = label; }, DONE_SHOWN);
});

async function copy(text, source) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers have no clipboard for pages without HTTPS: the user copies what is selected.
  if (source instanceof HTMLInputElement) source.select();
  else if (source) getSelection().selectAllChildren(source);
}

// A click beside a dialog closes it.
document.addEventListener("click", (event) => {
  if (event.target instanceof HTMLDialogElement && event.target.matches(":modal")) event.target.close();
});
