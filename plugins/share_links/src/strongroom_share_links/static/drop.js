// Uploads files in pieces by tus 1.0, so that an interrupted upload continues where it stopped.
"use strict";

(() => {
  const LEAST = 8 * 1024 * 1024;
  const MOST_PIECES = 50;
  const PAUSES = [500, 1000, 2000, 4000, 8000, 16000];
  const form = document.getElementById("drop");
  const sender = document.getElementById("sender");
  const name = document.getElementById("uploadedBy");
  const input = document.getElementById("file");
  const folder = document.getElementById("folder");
  const list = document.getElementById("uploads");
  const state = document.getElementById("state");
  const texts = form.dataset;

  // One step instead of two: the script sends the name with each file.
  document.getElementById("continue").hidden = true;
  form.hidden = false;
  input.multiple = true;
  // A form can send one file only; the script sends the path of each file of a folder.
  const picksFolders = "webkitdirectory" in folder;
  folder.hidden = folder.labels[0].hidden = !picksFolders;
  folder.addEventListener("change", () => { input.required = folder.files.length === 0; });
  sender.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (sender.reportValidity() && form.reportValidity()) {
      sendAll([...input.files, ...folder.files]);
    }
  });

  async function sendAll(files) {
    form.querySelector("button").disabled = true;
    list.hidden = false;
    for (const file of files) {
      const row = addRow(file);
      state.textContent = `${texts.sending}: ${pathOf(file)}`;
      try {
        await send(file, row);
        row.done(texts.done);
        state.textContent = `${texts.done}: ${pathOf(file)}`;
      } catch (error) {
        row.done(reason(error));
        state.textContent = `${reason(error)} ${pathOf(file)}`;
        if (error.code === "share-unavailable" || error.code === "share-drop-full") {
          close();
          return;
        }
      }
    }
    form.querySelector("button").disabled = false;
    input.value = folder.value = "";
    input.required = true;
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
    form.hidden = sender.hidden = true;
    state.textContent = texts.closed;
  }

  // The path in the chosen folder, or the name of a file that was chosen alone.
  function pathOf(file) {
    return file.webkitRelativePath || file.name;
  }

  function encoded(text) {
    return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
  }

  function addRow(file) {
    const item = document.createElement("li");
    const label = document.createElement("span");
    const bar = document.createElement("progress");
    const path = pathOf(file);
    label.textContent = path;
    bar.max = Math.max(1, file.size);
    bar.value = 0;
    bar.setAttribute("aria-label", path);
    item.append(label, bar);
    list.append(item);
    return {
      move: (bytes) => { bar.value = bytes; },
      tell: (text) => { label.textContent = `${path}: ${text}`; },
      done(text) {
        label.textContent = `${path}: ${text}`;
        bar.remove();
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
})();
