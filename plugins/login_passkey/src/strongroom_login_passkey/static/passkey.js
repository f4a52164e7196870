// Uses passkeys in forms of the pages. The server checks all that this script sends; it gets no token.

let pending = new AbortController();
const REFRESH_AFTER = 4 * 60 * 1000; // A challenge of the server is valid for 5 minutes.

async function newChallenge(part) {
  // The server binds a challenge to the device, and the form is sent as this one.
  const headers = {"Content-Type": "application/json", "X-Device-Id": part.dataset.device};
  const response = await fetch(part.dataset.challenges, {method: "POST", headers, body: "{}"});
  if (!response.ok) throw new Error(`no challenge: ${response.status}`);
  return (await response.json()).challenge;
}

function send(part, credential) {
  part.querySelector("input").value = JSON.stringify(credential.toJSON());
  part.closest("form").submit();
}

async function prove(part, options, settings) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  send(part, await navigator.credentials.get({publicKey, signal: pending.signal, ...settings}));
}

async function logIn(part, settings) {
  const challenge = await newChallenge(part);
  part.closest("form").elements.challenge.value = challenge.id;
  await prove(part, challenge.publicKey, settings);
}

async function create(part) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(part.dataset.options));
  send(part, await navigator.credentials.create({publicKey, signal: pending.signal}));
}

const actions = {
  login: (part) => logIn(part),
  create,
  confirm: (part) => prove(part, JSON.parse(part.dataset.options)),
};

// Offers passkeys in the autofill of the name field, until the user presses a button.
async function offerAutofill(part) {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  const {signal} = pending;
  while (!signal.aborted) {
    try {
      const both = AbortSignal.any([signal, AbortSignal.timeout(REFRESH_AFTER)]);
      return await logIn(part, {mediation: "conditional", signal: both});
    } catch (error) {
      if (error.name !== "TimeoutError") return;
    }
  }
}

async function run(part) {
  pending.abort();
  pending = new AbortController();
  const failure = part.querySelector("[role=alert]");
  failure.hidden = true;
  try {
    await actions[part.dataset.passkey](part);
  } catch {
    failure.hidden = false;
  }
}

// Keeps the list of the user's passkey provider equal to the server's.
async function reportAccepted(accepted) {
  const {rpId, userId, allAcceptedCredentialIds, name, displayName} = JSON.parse(accepted);
  await PublicKeyCredential.signalAllAcceptedCredentials?.({rpId, userId, allAcceptedCredentialIds});
  await PublicKeyCredential.signalCurrentUserDetails?.({rpId, userId, name, displayName});
}

if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  for (const part of document.querySelectorAll("[data-passkey]")) {
    const form = part.closest("form");
    part.hidden = false;
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      run(part);
    });
    if (part.dataset.autofill !== undefined) offerAutofill(part);
  }
  const accepted = document.querySelector("[data-accepted]");
  if (accepted) reportAccepted(accepted.dataset.accepted);
}
