// Long choices that are searched by typing: the combobox of the ARIA Authoring Practices with a list.
// Without the script, the choice is the browser's own.

import {folded} from "strongroom/texts.js";

const SHORT = 8; // Options that are seen at a glance.
const SHOWN = 50; // Options that a list shows at once.

export function makeSearchable(root) {
  for (const select of root.querySelectorAll("select[data-nothing]:not([hidden])")) {
    if (select.options.length > SHORT || select.hasAttribute("data-people")) combine(select);
  }
  for (const filter of root.querySelectorAll("input[data-filter]")) {
    filter.parentElement.hidden = filter.closest("fieldset").querySelectorAll("input[type=checkbox]").length <= SHORT;
    filter.addEventListener("input", () => showMatching(filter));
    // Enter would send the form.
    filter.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  }
}

function showMatching(filter) {
  for (const label of filter.closest("fieldset").querySelectorAll("label.check")) {
    label.hidden = !matches(label.textContent, filter.value);
  }
}


const matches = (text, sought) => folded(sought).split(/\s+/).every((word) => folded(text).includes(word));

// Puts a field with a list in place of a select, which keeps the value.
function combine(select) {
  const input = Object.assign(document.createElement("input"), {
    id: `${select.id}-search`, type: "text", autocomplete: "off", spellcheck: false, required: select.required,
    placeholder: select.options[0].value ? "" : select.options[0].text,
  });
  const list = Object.assign(document.createElement("ul"), {id: `${select.id}-list`, hidden: true});
  const box = Object.assign(document.createElement("div"), {className: "combobox"});
  list.setAttribute("role", "listbox");
  const attributes = {role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id};
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  if (select.hasAttribute("aria-describedby")) input.setAttribute("aria-describedby", select.getAttribute("aria-describedby"));
  for (const label of select.labels) {
    label.htmlFor = input.id;
    label.id ||= `${select.id}-label`;
    list.setAttribute("aria-labelledby", label.id);
  }
  box.append(input, list);
  select.after(box);
  select.hidden = true;
  select.required = false; // The field says what is missing; a hidden select could not.
  input.value = select.value ? select.selectedOptions[0].text : "";

  const options = () => [...list.querySelectorAll("[role=option]")];
  const active = () => list.querySelector("[aria-selected=true]");

  function open(sought) {
    const found = [...select.options].filter((option) => option.value && matches(option.text, sought));
    const rows = found.slice(0, SHOWN).map((option, number) => row(option, `${list.id}-${number}`));
    if (!rows.length) rows.push(remark(select.dataset.nothing));
    if (found.length > SHOWN) rows.push(remark("…"));
    list.replaceChildren(...rows);
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    input.removeAttribute("aria-activedescendant");
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(value) {
    select.value = value;
    input.value = value ? select.selectedOptions[0].text : "";
    input.setCustomValidity("");
    select.dispatchEvent(new Event("change", {bubbles: true}));
    close();
  }

  function move(by) {
    if (list.hidden) open("");
    const all = options();
    if (!all.length) return;
    const at = all.indexOf(active());
    active()?.setAttribute("aria-selected", "false");
    const next = all[at < 0 && by < 0 ? all.length - 1 : (at + by + all.length) % all.length];
    next.setAttribute("aria-selected", "true");
    next.scrollIntoView({block: "nearest"});
    input.setAttribute("aria-activedescendant", next.id);
  }

  input.addEventListener("input", () => {
    select.value = "";
    open(input.value);
    if (select.hasAttribute("data-at-once") && input.value) move(1);
  });
  input.addEventListener("click", () => list.hidden && open(""));
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Escape" && !list.hidden) close();
    else if (event.key === "Enter" && !list.hidden) choose((active() ?? only(options()))?.dataset.value ?? select.value);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  // The press would take the focus from the field, which closes the list before the click.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) choose(option.dataset.value);
  });
  input.addEventListener("blur", () => {
    close();
    // What was typed in full is chosen, and a remainder is no choice.
    const typed = [...select.options].filter((option) => option.value && folded(option.text.trim()) === folded(input.value.trim()));
    if (!select.value && typed.length === 1) choose(typed[0].value);
    input.setCustomValidity(input.value && !select.value ? select.dataset.nothing : "");
  });
  select.form?.addEventListener("reset", () => setTimeout(() => choose(select.value)));
}

const only = (options) => (options.length === 1 ? options[0] : undefined);

function row(option, id) {
  const item = Object.assign(document.createElement("li"), {id});
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", "false");
  item.dataset.value = option.value;
  if (option.dataset.initials) item.append(...person(option.dataset));
  else item.append(Object.assign(document.createElement("bdi"), {textContent: option.text}));
  if (option.parentElement instanceof HTMLOptGroupElement) {
    item.append(Object.assign(document.createElement("span"), {className: "hint", textContent: option.parentElement.label}));
  }
  return item;
}

// An avatar, and a name above an address.
function person({initials, color, name, address}) {
  const avatar = Object.assign(document.createElement("span"), {className: `avatar face-${color}`, textContent: initials, ariaHidden: "true"});
  const lines = Object.assign(document.createElement("span"), {className: "two-lines"});
  lines.append(Object.assign(document.createElement("bdi"), {className: "first", textContent: name}));
  if (address) lines.append(Object.assign(document.createElement("small"), {textContent: address}));
  return [avatar, lines];
}

function remark(text) {
  const item = Object.assign(document.createElement("li"), {className: "hint", textContent: text});
  item.setAttribute("role", "presentation");
  return item;
}
