// Adds a button to each block of code that copies the block. Without a clipboard, as on http://, there is none.
"use strict";

const SHOWN_MILLISECONDS = 2000;
const [COPY, COPIED] = document.documentElement.lang.startsWith("zh") ? ["复制", "已复制"] : ["Copy", "Copied"];

function addButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = COPY;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = COPIED;
    setTimeout(() => (button.textContent = COPY), SHOWN_MILLISECONDS);
  });
  block.parentElement.append(button);
}

document.addEventListener("DOMContentLoaded", () => {
  if (navigator.clipboard) document.querySelectorAll("div.highlight > pre").forEach(addButton);
});
