// Passwords that can be read, and the strength of new ones. Forms work without it.

import {prepareParts} from "./documents.js";

const PAUSE = 400; // Milliseconds without a key before the strength is requested.

function show(button, type) {
  const input = document.getElementById(button.dataset.reveals);
  const name = type === "text" ? button.dataset.hide : button.dataset.show;
  input.type = type;
  button.title = name;
  button.setAttribute("aria-label", name);
}

prepareParts((root) => {
  for (const button of root.querySelectorAll("button[data-reveals]")) button.hidden = false;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-reveals]");
  if (!button) return;
  const isHidden = document.getElementById(button.dataset.reveals).type === "password";
  show(button, isHidden ? "text" : "password");
});

// Browsers store what a password field contains, and not a text.
document.addEventListener("submit", (event) => {
  for (const button of event.target.querySelectorAll("button[data-reveals]")) show(button, "password");
}, true);

async function judge(input) {
  // A dialog that was closed has taken its field away.
  if (!input.isConnected) return;
  const password = input.value, hint = document.getElementById(`${input.id}-strength`);
  const body = JSON.stringify({password});
  const headers = {"Content-Type": "application/json"};
  const response = await fetch(input.dataset.strength, {method: "POST", headers, body});
  const {strength = ""} = response.ok ? await response.json() : {};
  if (input.value !== password) return;
  const level = password && strength;
  hint.dataset.level = level;
  hint.textContent = (level && hint.dataset[level]) || "";
}

const timers = new WeakMap();
document.addEventListener("input", ({target}) => {
  if (!target.matches("input[data-strength]")) return;
  clearTimeout(timers.get(target));
  timers.set(target, setTimeout(() => judge(target), PAUSE));
});
