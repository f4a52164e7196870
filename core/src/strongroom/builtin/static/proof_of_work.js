// Solves the captcha of a form when the user sends it. The server checks the solution.

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

const input = document.querySelector("input[data-work]");
input?.form.addEventListener("submit", async (event) => {
  // A button that needs no valid form needs no captcha either.
  if (event.submitter?.formNoValidate) return;
  event.preventDefault();
  if (event.submitter) event.submitter.disabled = true;
  input.value = await solve(JSON.parse(input.dataset.work));
  input.form.submit();
});
