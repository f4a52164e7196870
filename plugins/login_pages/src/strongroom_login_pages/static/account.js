// Comfort of the account pages: copy and print. All of them work without it.

import "./passwords.js";

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
