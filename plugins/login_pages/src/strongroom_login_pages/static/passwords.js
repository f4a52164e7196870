// Passwords that can be read, and the judgement of new ones. Forms work without it.

const PAUSE = 400; // Milliseconds without a key before a password is judged.

for (const button of document.querySelectorAll("button[data-reveals]")) {
  const input = document.getElementById(button.dataset.reveals);
  const names = {password: button.title, text: button.dataset.hide};
  const show = (type) => {
    input.type = type;
    button.title = names[type];
    button.setAttribute("aria-label", names[type]);
  };
  button.hidden = false;
  button.addEventListener("click", () => show(input.type === "password" ? "text" : "password"));
  // Browsers store what a password field contains, and not a text.
  input.form.addEventListener("submit", () => show("password"));
}

async function judge(input, hint) {
  const password = input.value;
  const body = JSON.stringify({password});
  const headers = {"Content-Type": "application/json"};
  const response = await fetch(input.dataset.strength, {method: "POST", headers, body});
  const {strength = ""} = response.ok ? await response.json() : {};
  if (input.value !== password) return;
  const level = password && strength;
  hint.dataset.level = level;
  hint.textContent = (level && hint.dataset[level]) || "";
}

for (const input of document.querySelectorAll("input[data-strength]")) {
  const hint = document.getElementById("strength");
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => judge(input, hint), PAUSE);
  });
}
