// Comfort for the pages of the sign-in: codes, forms that are sent once.

import "strongroom/passwords.js";
import "./codes.js";

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
