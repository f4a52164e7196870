// Solves the captcha of a form while the user fills it in. The server checks the solution.

function hex(bytes) {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Finds the number with the given hash (ALTCHA, version 1).
async function solve({algorithm, challenge, salt, signature, maxnumber}) {
  const encoder = new TextEncoder();
  for (let number = 0; number <= maxnumber; number += 1) {
    const digest = await crypto.subtle.digest(algorithm, encoder.encode(`${salt}${number}`));
    if (hex(digest) === challenge) {
      return btoa(JSON.stringify({algorithm, challenge, number, salt, signature}));
    }
  }
  throw new Error("the captcha has no solution");
}

// Finds the solution once: when the user enters the form, or when the page is idle.
function once(work) {
  let solution;
  return () => (solution ??= solve(work));
}

function prepare(input) {
  const {form} = input;
  const status = form.querySelector("[data-work-status]");
  const fallback = form.querySelector("[data-work-fallback]");
  if (!globalThis.crypto?.subtle) {
    fallback.hidden = false;
    return;
  }
  const begin = once(JSON.parse(input.dataset.work));
  const early = () => begin().catch(() => { fallback.hidden = false; });
  form.addEventListener("focusin", early, {once: true});
  (globalThis.requestIdleCallback ?? setTimeout)(early);
  let isWaiting = false;
  form.addEventListener("submit", async (event) => {
    // A button that needs no valid form needs no captcha either.
    if (input.value || event.submitter?.formNoValidate) return;
    event.preventDefault();
    if (isWaiting) return;
    isWaiting = true;
    const {submitter} = event;
    const timer = setTimeout(() => { status.textContent = status.dataset.text; }, 200);
    try {
      input.value = await begin();
      // In a later task, because a form ignores requests during its event.
      await new Promise((done) => { setTimeout(done); });
      // With the button, whose value the form sends.
      form.requestSubmit(submitter);
    } catch {
      fallback.hidden = false;
    } finally {
      clearTimeout(timer);
      status.textContent = "";
      isWaiting = false;
    }
  });
}

for (const input of document.querySelectorAll("input[data-work]")) prepare(input);
