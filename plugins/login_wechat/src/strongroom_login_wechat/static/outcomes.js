// Of both pages: one message at a time, and no frame of the design within a frame.
"use strict";

function report(text, isGood, detail = "") {
  const [shown, empty] = isGood ? ["[role=status]", "[role=alert]"] : ["[role=alert]", "[role=status]"];
  document.querySelector(empty).textContent = "";
  document.querySelector(shown).textContent = [text, detail].filter(Boolean).join(" ");
}

if (window !== window.top) {
  for (const part of document.querySelectorAll("body > header, body > footer")) part.hidden = true;
}
