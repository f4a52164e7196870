// Shows the page of WeChat with a QR code in a frame, and reports the outcome.
"use strict";

const card = document.querySelector("#texts"), frame = document.querySelector("iframe");
const hint = document.querySelector(".hint"), button = document.querySelector("button");
const texts = card.dataset;
let timer;

function end(outcome) {
  clearTimeout(timer);
  hint.textContent = "";
  report(texts[outcome], outcome === "loggedIn");
}

function expire() {
  frame.hidden = true;
  end("expired");
}

async function show() {
  clearTimeout(timer);
  frame.hidden = true;
  button.hidden = false;
  report("", true);
  hint.textContent = texts.loading;
  const body = JSON.stringify({app: texts.app, language: texts.language});
  const request = {method: "POST", headers: {"Content-Type": "application/json"}, body};
  const response = await fetch("../wechat-qr-codes", request).catch(() => null);
  if (!response?.ok) return end("unavailable");
  const code = await response.json();
  frame.src = code.url;
  frame.hidden = false;
  hint.textContent = texts.active;
  timer = setTimeout(expire, Date.parse(code.expiresAt) - Date.now());
}

addEventListener("message", ({source, data}) => {
  if (source !== frame.contentWindow || data?.type !== "strongroom-wechat") return;
  end(data.outcome === "logged-in" ? "loggedIn" : data.outcome);
});
button.addEventListener("click", show);
show();
