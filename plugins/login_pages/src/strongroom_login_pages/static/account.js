// Comfort of the account pages: copy, print, and a hint for new passwords. All of them work without it.

const PAUSE = 400; // Milliseconds without a key before a password is judged.

for (const button of document.querySelectorAll("[data-copy]")) {
  // Browsers have no clipboard for pages without HTTPS.
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const parts = document.getElementById(button.dataset.copy);
    const lines = [...(parts.children.length ? parts.children : [parts])];
    const text = lines.map((line) => line.textContent.trim()).join("\n");
    await navigator.clipboard.writeText(parts.dataset.text ?? text);
    button.textContent = button.dataset.done;
  });
}

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

async function judge(input, hint) {
  const password = input.value;
  const body = JSON.stringify({password});
  const headers = {"Content-Type": "application/json"};
  const response = await fetch(input.dataset.strength, {method: "POST", headers, body});
  const {strength} = response.ok ? await response.json() : {};
  if (input.value === password) hint.textContent = (password && hint.dataset[strength]) || "";
}

for (const input of document.querySelectorAll("input[data-strength]")) {
  const hint = document.getElementById("strength");
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => judge(input, hint), PAUSE);
  });
}
