// Comfort of the account pages: codes, print. All of them work without it.

import "strongroom/passwords.js";
import "./codes.js";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
