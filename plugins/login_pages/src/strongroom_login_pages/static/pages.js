// What needs a script: passkeys, and captchas that the browser solves. Everything else on the pages works
// without. The server checks all that this script sends; it gets no token.

let pending = new AbortController();
const REFRESH_AFTER = 4 * 60 * 1000; // A challenge of the server is valid for 5 minutes.

async function newChallenge(form) {
  // The server binds a challenge to the device, and the form is sent as this one.
  const headers = {"Content-Type": "application/json", "X-Device-Id": form.dataset.device};
  const response = await fetch(form.dataset.challenges, {method: "POST", headers, body: "{}"});
  if (!response.ok) throw new Error(`no challenge: ${response.status}`);
  return (await response.json()).challenge;
}

function send(form, credential) {
  form.elements.passkey.value = JSON.stringify(credential.toJSON());
  form.submit();
}

async function prove(form, options, settings) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  send(form, await navigator.credentials.get({publicKey, signal: pending.signal, ...settings}));
}

async function logIn(form, settings) {
  const challenge = await newChallenge(form);
  form.elements.challenge.value = challenge.id;
  await prove(form, challenge.publicKey, settings);
}

async function create(form) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(form.dataset.options));
  send(form, await navigator.credentials.create({publicKey, signal: pending.signal}));
}

const actions = {
  login: (form) => logIn(form),
  create,
  confirm: (form) => prove(form, JSON.parse(form.dataset.options)),
};

// Offers passkeys in the autofill of the name field, until the user presses a button.
async function offerAutofill(form) {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  const {signal} = pending;
  while (!signal.aborted) {
    try {
      const both = AbortSignal.any([signal, AbortSignal.timeout(REFRESH_AFTER)]);
      return await logIn(form, {mediation: "conditional", signal: both});
    } catch (error) {
      if (error.name !== "TimeoutError") return;
    }
  }
}

async function run(form) {
  pending.abort();
  pending = new AbortController();
  const failure = form.querySelector("[role=alert]");
  failure.hidden = true;
  try {
    await actions[form.dataset.passkey](form);
  } catch {
    failure.hidden = false;
  }
}

// Keeps the list of the user's passkey provider equal to the server's.
async function reportAccepted({shown, removed}) {
  const {rpId, userId, allAcceptedCredentialIds, name, displayName} = JSON.parse(shown);
  if (removed) await PublicKeyCredential.signalUnknownCredential?.({rpId, credentialId: removed});
  await PublicKeyCredential.signalAllAcceptedCredentials?.({rpId, userId, allAcceptedCredentialIds});
  await PublicKeyCredential.signalCurrentUserDetails?.({rpId, userId, name, displayName});
}

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

const work = document.querySelector("form[data-work]");
work?.addEventListener("submit", async (event) => {
  // A code needs no captcha of this form.
  if (event.submitter?.formNoValidate) return;
  event.preventDefault();
  event.submitter.disabled = true;
  work.elements.captchaAnswer.value = await solve(JSON.parse(work.dataset.work));
  work.submit();
});

if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      run(form);
    });
    if (form.dataset.autofill !== undefined) offerAutofill(form);
  }
  const accepted = document.querySelector("[data-shown]");
  if (accepted) reportAccepted(accepted.dataset);
}
