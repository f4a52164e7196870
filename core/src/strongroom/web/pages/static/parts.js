// The parts of pages: menus, toasts and copies. All pages work without it.

const TOAST_SHOWN = 8000; // Milliseconds, unless the pointer or the focus is on it.
const DONE_SHOWN = 2000;
const GAP = 4;

export const icons = document.documentElement.dataset.icons;

// Returns an icon of the sprite.
export function icon(name, size = 18) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const attributes = {class: "icon", width: size, height: size, "aria-hidden": "true"};
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
  svg.append(document.createElementNS(space, "use"));
  svg.firstChild.setAttribute("href", `${icons}#${name}`);
  return svg;
}

// Menus: arrows move, and the menu is placed where style sheets cannot. Events of popovers do not bubble.
document.addEventListener("toggle", (event) => {
  const popup = event.target;
  if (!(popup instanceof HTMLElement && popup.matches(".popup"))) return;
  if (event.newState !== "open") return;
  place(popup);
  entries(popup)[0]?.focus({preventScroll: true});
}, true);

function place(popup) {
  const button = document.querySelector(`[popovertarget="${CSS.escape(popup.id)}"]`);
  if (!button || CSS.supports("position-area", "bottom") || matchMedia("(max-width: 34rem)").matches) return;
  const edge = button.getBoundingClientRect(), {offsetWidth, offsetHeight} = popup;
  const isBelow = edge.bottom + offsetHeight + GAP < innerHeight && !popup.matches(".above");
  const left = popup.matches(".end") ? edge.right - offsetWidth : edge.left;
  popup.style.top = `${isBelow ? edge.bottom : Math.max(edge.top - offsetHeight - 2 * GAP, 0)}px`;
  popup.style.left = `${Math.max(GAP, Math.min(left, innerWidth - offsetWidth - GAP))}px`;
}

const entries = (popup) => [...popup.querySelectorAll("a[href], button, input, select")].filter((item) => item.checkVisibility());

document.addEventListener("keydown", (event) => {
  const popup = event.target.closest?.(".popup");
  if (!popup || event.target.matches("input, select")) return;
  const all = entries(popup), at = all.indexOf(document.activeElement);
  const next = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1}[event.key];
  if (next === undefined || !all.length) return;
  event.preventDefault();
  all.at(next % all.length).focus();
});

// An entry that is chosen closes its menu.
document.addEventListener("click", (event) => {
  const item = event.target.closest(".popup-item");
  if (item && !item.hasAttribute("data-stays")) item.closest("[popover]")?.hidePopover();
});

// Toasts of the page, and toasts of the event "strongroom:toast" with {message, action, onAction, tone}.
const stack = Object.assign(document.createElement("div"), {className: "toasts"});
document.body.append(stack);
for (const item of document.querySelectorAll(".toast")) raise(item);

document.addEventListener("strongroom:toast", ({detail}) => {
  const {message, action, onAction, tone} = detail;
  const item = Object.assign(document.createElement("div"), {className: `toast ${tone ?? ""}`});
  item.setAttribute("role", tone === "bad" ? "alert" : "status");
  item.append(icon(tone === "bad" ? "circle-alert" : "circle-check"), Object.assign(document.createElement("span"), {textContent: message}));
  if (action) {
    const button = Object.assign(document.createElement("button"), {type: "button", className: "ghost", textContent: action});
    button.addEventListener("click", () => { item.remove(); onAction(); });
    item.append(button);
  }
  raise(item);
});

function raise(item) {
  stack.append(item);
  const close = item.querySelector("[data-dismiss]");
  if (close) {
    close.hidden = false;
    close.addEventListener("click", () => item.remove());
  }
  const lapse = () => (item.matches(":hover, :focus-within") ? setTimeout(lapse, DONE_SHOWN) : item.remove());
  if (!item.matches(".bad, [data-stays]")) setTimeout(lapse, TOAST_SHOWN);
}

// The bar of a selection counts the rows.
document.addEventListener("change", (event) => {
  const bar = event.target.form?.querySelector(".selection-bar[data-counted]");
  if (!bar) return;
  const count = event.target.form.querySelectorAll("tbody input[type=checkbox]:checked").length;
  bar.querySelector("output").textContent = bar.dataset.counted.replace("{count}", count);
});
