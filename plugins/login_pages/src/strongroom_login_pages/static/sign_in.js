// Comfort for the pages of the sign-in: codes, passwords, forms that are sent once.

import "./codes.js";
import "./passwords.js";

// A double click would send the second form with the secret of a session that the first one has replaced.
const sent = new WeakSet();
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  if (sent.has(event.target)) event.preventDefault();
  sent.add(event.target);
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});
