// Logs in with the code in the URL, and notifies the page that embeds this one.
"use strict";

const texts = document.querySelector("#texts").dataset;
const origins = [location.origin, ...texts.embedders.split(" ")];

function notify(outcome, more = {}) {
  for (const other of new Set([window.parent, window.top, window.opener])) {
    if (!other || other === window) continue;
    // The browser delivers the message only if the window has exactly this origin.
    for (const origin of origins.filter(Boolean)) {
      other.postMessage({type: "strongroom-wechat", outcome, ...more}, origin);
    }
  }
}

async function logIn(code, state) {
  const body = JSON.stringify({code, state});
  const request = {method: "POST", headers: {"Content-Type": "application/json"}, body};
  const response = await fetch("../wechat-authorizations", request).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (response?.ok) {
    report(texts.loggedIn, true, answer.user.name);
    notify("logged-in", {authorization: answer});
  } else {
    report(texts.startAgain, false, answer?.error?.code);
    notify("failed", {error: answer?.error ?? null});
  }
}

const query = new URLSearchParams(location.search);
const code = query.get("code"), state = query.get("state");
// Remove code and state from the browser's history.
history.replaceState(null, "", location.pathname);
if (!code) {
  report(texts.denied, false);
  notify("denied");
} else if (state?.startsWith("bind0")) {
  report(texts.confirmed, true);
  notify("confirmed", {code, state});
} else {
  logIn(code, state ?? "");
}
