// Uploads files in pieces by tus 1.0, so that an interrupted upload continues where it stopped.

import {icon} from "strongroom/parts.js";
import {sizeText} from "strongroom/texts.js";

const LEAST = 8 * 1024 * 1024;
const MOST_PIECES = 50;
const PAUSES = [500, 1000, 2000, 4000, 8000, 16000];
const find = (id) => document.getElementById(id);
const form = find("drop"), sender = find("sender"), name = find("uploadedBy"), input = find("file");
const folder = find("folder"), zone = find("zone"), list = find("uploads"), state = find("state");
const button = find("send"), arrived = find("arrived");
const texts = form.dataset;
let chosen = [];
let isBusy = false;

// One step instead of two: the script sends the name with each file.
find("continue").hidden = true;
form.hidden = !arrived.hidden;
form.classList.add("live");
input.multiple = true;
input.required = false;
button.hidden = true;
zone.querySelector(".no-drag").hidden = true;
zone.querySelector(".drag").hidden = false;
// A form can send one file only; the script sends the path of each file of a folder.
zone.querySelector(".folder-choice").hidden = !("webkitdirectory" in folder);
for (const choice of [input, folder]) choice.addEventListener("change", () => choose(choice));
// A file that is dropped on the input is chosen in it.
for (const [type, isOver] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
  zone.addEventListener(type, () => zone.classList.toggle("over", isOver));
}
sender.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (chosen.length && sender.reportValidity()) sendAll();
});

find("more").addEventListener("click", (event) => {
  event.preventDefault();
  list.replaceChildren();
  list.hidden = arrived.hidden = true;
  sender.hidden = form.hidden = zone.hidden = false;
  input.focus();
});
// A browser warns before it closes the page during an upload.
addEventListener("beforeunload", (event) => { if (isBusy) event.preventDefault(); });

function choose(choice) {
  for (const file of choice.files) {
    const item = { file, row: addRow(file) };
    item.row.remove.addEventListener("click", () => {
      chosen = chosen.filter((other) => other !== item);
      item.row.drop();
      list.hidden = button.hidden = !chosen.length;
      input.focus();
    });
    chosen.push(item);
  }
  choice.value = "";
  list.hidden = button.hidden = !chosen.length;
}

async function sendAll() {
  const items = chosen;
  let count = 0;
  chosen = [];
  button.hidden = zone.hidden = sender.hidden = isBusy = true;
  for (const { row } of items) row.begin();
  for (const { file, row } of items) {
    state.textContent = `${texts.sending}: ${pathOf(file)}`;
    try {
      await send(file, row);
      count += 1;
      row.done(texts.done, true);
      state.textContent = `${texts.done}: ${pathOf(file)}`;
    } catch (error) {
      row.done(reason(error), false);
      state.textContent = `${reason(error)} ${pathOf(file)}`;
      if (error.code === "share-unavailable" || error.code === "share-drop-full") {
        close();
        return;
      }
    }
  }
  isBusy = false;
  report(count, items.length);
}

function report(count, total) {
  const all = count === 1 ? texts.arrivedOne : texts.arrivedMany;
  const text = count === total ? all : count ? texts.arrivedSome : texts.arrivedNone;
  arrived.classList.toggle("partly", count < total);
  arrived.querySelector(".hint").hidden = !count;
  find("result").textContent = text.replace("{count}", count).replace("{total}", total);
  arrived.hidden = false;
  arrived.scrollIntoView({ block: "nearest" });
  find("more").focus({ preventScroll: true });
}

// The text of the refusal. Only a broken connection and a busy server are worth another try.
function reason(error) {
  const refusal = form.getAttribute(`data-refusal-${error.code}`);
  return refusal || (error.status >= 400 && error.status < 500 ? texts.refused : texts.failed);
}

// The error code of an answer without "error.", such as "content-infected".
function codeOf(request) {
  try {
    return JSON.parse(request.responseText).error.code.replace("error.", "");
  } catch {
    return "";
  }
}

// A full or closed drop box receives nothing more, so it offers nothing.
function close() {
  zone.hidden = sender.hidden = true;
  isBusy = false;
  state.textContent = texts.closed;
  state.classList.remove("unseen");
}

// The path in the chosen folder, or the name of a file that was chosen alone.
function pathOf(file) {
  return file.webkitRelativePath || file.name;
}

function encoded(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function made(tag, className, text = "") {
  return Object.assign(document.createElement(tag), { className, textContent: text });
}

function addRow(file) {
  const path = pathOf(file), item = made("li", "upload"), words = made("span", "words");
  const note = made("small", "", `${sizeText(file.size)}, ${texts.waiting}`), bar = document.createElement("progress");
  const remove = made("button", "ghost icon-button");
  let mark = icon("file", 20);
  remove.type = "button";
  remove.append(icon("x", 20));
  remove.setAttribute("aria-label", `${texts.remove} ${path}`);
  bar.max = Math.max(1, file.size);
  bar.value = 0;
  bar.hidden = true;
  bar.setAttribute("aria-label", path);
  words.append(made("bdi", "first", path), note, bar);
  item.append(mark, words, remove);
  list.append(item);
  return {
    remove,
    drop: () => item.remove(),
    begin() {
      remove.remove();
      bar.hidden = false;
      note.textContent = sizeText(file.size);
    },
    move(bytes) {
      bar.value = bytes;
      note.textContent = `${sizeText(bytes)} / ${sizeText(file.size)}`;
    },
    tell: (text) => { note.textContent = text; },
    done(text, isGood) {
      note.textContent = text;
      bar.remove();
      item.classList.add(isGood ? "good" : "bad");
      const shown = icon(isGood ? "circle-check" : "circle-alert", 20);
      mark.replaceWith(shown);
      mark = shown;
    },
  };
}

async function send(file, row) {
  const key = `upload ${texts.uploads} ${name.value} ${pathOf(file)} ${file.size} ${file.lastModified}`;
  let url = sessionStorage.getItem(key);
  let offset = url ? await offsetOf(url).catch(() => null) : null;
  if (offset === null) {
    url = await create(file);
    offset = 0;
    sessionStorage.setItem(key, url);
  }
  for (let failures = 0; offset < file.size; ) {
    try {
      offset = await append(url, file, offset, row);
      failures = 0;
    } catch (error) {
      // Refusals are final; a broken connection and a busy server are not.
      if (![0, 409, 423, 429, 500, 502, 503, 504].includes(error.status) || failures === PAUSES.length) {
        sessionStorage.removeItem(key);
        throw error;
      }
      row.tell(texts.retrying);
      await new Promise((resume) => setTimeout(resume, PAUSES[failures]));
      failures += 1;
      offset = await offsetOf(url).catch(() => offset);
    }
  }
  sessionStorage.removeItem(key);
}

async function create(file) {
  const path = file.webkitRelativePath ? `,relativePath ${encoded(file.webkitRelativePath)}` : "";
  const query = name.value ? `?uploadedBy=${encodeURIComponent(name.value)}` : "";
  const answer = await ask("POST", texts.uploads + query, {
    "Upload-Length": String(file.size),
    "Upload-Metadata": `filename ${encoded(file.name)}${path}`,
  });
  // The last segment only: the public address may be another one than this page's.
  return `${texts.uploads}/${answer.getResponseHeader("Location").split("/").pop()}`;
}

async function offsetOf(url) {
  return Number((await ask("HEAD", url, {})).getResponseHeader("Upload-Offset"));
}

async function append(url, file, offset, row) {
  const headers = {
    "Upload-Offset": String(offset),
    "Content-Type": "application/offset+octet-stream",
  };
  // Few pieces, because the requests of an address are limited.
  const size = Math.max(LEAST, Math.ceil(file.size / MOST_PIECES));
  const piece = file.slice(offset, offset + size);
  const answer = await ask("PATCH", url, headers, piece, (sent) => row.move(offset + sent));
  return Number(answer.getResponseHeader("Upload-Offset"));
}

// XMLHttpRequest instead of fetch, which does not report the progress of uploads.
function ask(method, url, headers, body = null, progress = null) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = () => {
      reject(Object.assign(new Error(method), { status: request.status, code: codeOf(request) }));
    };
    request.open(method, url);
    const sent = { "Tus-Resumable": "1.0.0", "X-CSRF": texts.csrf, ...headers };
    for (const [header, value] of Object.entries(sent)) {
      request.setRequestHeader(header, value);
    }
    if (progress) {
      request.upload.addEventListener("progress", (event) => progress(event.loaded));
    }
    request.addEventListener("load", () => (request.status < 300 ? resolve(request) : fail()));
    request.addEventListener("error", fail);
    request.addEventListener("abort", fail);
    request.send(body);
  });
}
