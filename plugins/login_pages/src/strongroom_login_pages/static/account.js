// Comfort of the account pages: print. All of them work without it.

import "./passwords.js";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
