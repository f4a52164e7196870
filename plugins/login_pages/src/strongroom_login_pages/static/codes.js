// Comfort for codes: they are pasted, and seconds pass. Forms work without it.

// A code that is pasted or filled in, with blanks or the words around it, is sent at once, unless its form lacks more.
for (const input of document.querySelectorAll("input[data-digits]")) {
  const length = Number(input.dataset.digits);
  input.addEventListener("beforeinput", (event) => {
    const pasted = event.inputType === "insertFromPaste" && (event.data ?? event.dataTransfer?.getData("text"));
    const digits = pasted && pasted.normalize("NFKC").replace(/\D/g, "");
    if (!digits || digits.length !== length) return;
    event.preventDefault();
    input.value = digits;
    const missing = [...input.form.elements].find((field) => !field.checkValidity());
    if (missing) missing.focus();
    else input.form.requestSubmit();
  });
}

// What waits for the end of a countdown appears after it.
for (const span of document.querySelectorAll("[data-seconds]")) {
  const waiting = document.querySelectorAll("[data-after-countdown]");
  for (const later of waiting) later.hidden = true;
  const end = Date.now() + span.dataset.seconds * 1000;
  const timer = setInterval(() => {
    const left = Math.ceil((end - Date.now()) / 1000);
    span.textContent = left > 0 ? span.dataset.text.replace("#", left) : "";
    if (left > 0) return;
    clearInterval(timer);
    for (const later of waiting) later.hidden = false;
  }, 1000);
}
