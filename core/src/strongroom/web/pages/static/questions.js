// Opens the page that asks before a change as a dialog over the page with its link. The form is sent as on that page.

import {adopted, fetchPage} from "./documents.js";

const REFERENCES = ["for", "aria-describedby", "aria-labelledby"];

// Rejects if the page cannot be a dialog.
export async function openQuestion(link) {
  // Codes and captchas need the scripts of their page, so it is opened: there is no such part.
  show((await fetchPage(link.href)).querySelector(".question:not(.alone)"), link.href);
}

function show(source, url) {
  for (const part of source.querySelectorAll(":scope > nav, :scope > .notice")) part.remove();
  for (const form of source.querySelectorAll("form:not([action])")) form.action = url;
  renameIds(source);
  const dialog = Object.assign(document.createElement("dialog"), {className: "question"});
  const title = Object.assign(document.createElement("h2"), {id: "asking-title"});
  title.append(...source.querySelector("h1").childNodes);
  source.querySelector("h1").replaceWith(title);
  dialog.append(...adopted(source));
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.setAttribute("closedby", "any");
  dialog.addEventListener("click", (event) => {
    if (!event.target.closest("[data-cancel]")) return;
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", (event) => event.target === dialog && dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector("input:not([type=hidden]), select, [data-cancel]").focus();
}

// The page below may have the same ids.
function renameIds(root) {
  for (const element of root.querySelectorAll("[id]")) element.id = `asking-${element.id}`;
  for (const name of REFERENCES) {
    for (const element of root.querySelectorAll(`[${name}]`)) {
      element.setAttribute(name, element.getAttribute(name).split(" ").map((id) => `asking-${id}`).join(" "));
    }
  }
}
