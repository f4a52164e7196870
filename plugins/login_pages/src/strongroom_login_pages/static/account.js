// Comfort of the account pages: codes, passwords, print. All of them work without it.

import "./codes.js";
import "./passwords.js";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
