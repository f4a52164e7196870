// Comfort of all pages: choices that are searched, and questions before dangerous changes. All pages work without it.

import {prepareParts} from "strongroom/documents.js";
import {makeSearchable} from "./choices.js";

prepareParts(makeSearchable);

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

// A click beside a dialog closes it.
document.addEventListener("click", (event) => {
  if (event.target instanceof HTMLDialogElement && event.target.matches(":modal")) event.target.close();
});
