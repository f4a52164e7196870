// Comfort for the pages of the sign-in: passwords that can be read, seconds that pass, forms that are sent
// once.

for (const button of document.querySelectorAll("button[data-reveals]")) {
  const input = document.getElementById(button.dataset.reveals);
  const texts = {password: button.textContent, text: button.dataset.hide};
  button.hidden = false;
  button.addEventListener("click", () => {
    input.type = input.type === "password" ? "text" : "password";
    button.textContent = texts[input.type];
  });
  // Browsers store what a password field contains, and not a text.
  input.form.addEventListener("submit", () => { input.type = "password"; });
}

for (const span of document.querySelectorAll("[data-seconds]")) {
  const end = Date.now() + span.dataset.seconds * 1000;
  const timer = setInterval(() => {
    const left = Math.ceil((end - Date.now()) / 1000);
    span.textContent = left > 0 ? span.dataset.text.replace("#", left) : "";
    if (left <= 0) clearInterval(timer);
  }, 1000);
}

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
