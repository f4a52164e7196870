// Uploads of a page with the form "upload": by drop or choice, files and folders, in a queue with progress.

import {countText} from "strongroom/texts.js";
import {Queue, QueuePanel} from "./queue.js";
import {text} from "./texts.js";
import {Transfer} from "./transfer.js";

const REFRESH_AFTER = 5000; // Milliseconds between two refreshes of the list while files arrive.

const form = document.getElementById("upload");
const element = document.getElementById("queue");
if (form && element) enhance(form);

function enhance(form) {
  const queue = new Queue((transfer) => changed(transfer));
  const panel = new QueuePanel(element, queue);
  let refreshed = performance.now();

  function add(files, rule) {
    const {uploads, folder, secret} = element.dataset;
    const query = new URLSearchParams({folder, onConflict: rule});
    const target = {url: `${uploads}?${query}`, place: `${uploads} ${folder}`, secret};
    if (!files.length) return;
    queue.add(files.map(({file, path}) => new Transfer(file, path, target, (transfer) => queue.onChange(transfer))));
    panel.announce(text("queue-begun", {count: countText(files.length)}));
    panel.show();
  }

  function changed(transfer) {
    panel.update(transfer);
    if (transfer.isActive || transfer.state === "waiting") return;
    queue.proceed();
    const isDone = !queue.isBusy;
    if (transfer.state === "failed") panel.announce(`${text("queue-failed")}: ${transfer.path}`);
    else if (isDone && queue.count("paused") === 0) panel.announce(text("queue-ended", {count: countText(queue.count("done"))}));
    if (transfer.state === "done" && (isDone || performance.now() > refreshed + REFRESH_AFTER)) {
      refreshed = performance.now();
      document.dispatchEvent(new CustomEvent("strongroom:uploaded"));
    }
  }

  takeFiles(form, add);
  takeDrops(add);
  addEventListener("paste", (event) => {
    if (!event.clipboardData.files.length || event.target.closest?.("input, textarea")) return;
    event.preventDefault();
    add([...event.clipboardData.files].map((file) => ({file, path: file.name})), "rename");
  });
  addEventListener("beforeunload", (event) => {
    if (queue.isBusy) event.preventDefault();
  });
}

// Takes the files of the form, and of a choice of a folder that is added to it.
function takeFiles(form, add) {
  const input = form.querySelector("input[type=file]");
  const choice = document.getElementById("upload-folder").content.cloneNode(true);
  const folder = choice.querySelector("input");
  input.multiple = true;
  if ("webkitdirectory" in input) input.closest(".field").after(choice);
  folder.addEventListener("change", () => { input.required = folder.files.length === 0; });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const action = event.submitter?.getAttribute("formaction") ?? form.getAttribute("action");
    const files = [...input.files, ...folder.files];
    add(files.map((file) => ({file, path: file.webkitRelativePath || file.name})), ruleOf(action));
    form.reset();
    input.required = true;
    form.closest("details")?.removeAttribute("open");
  });
}

function ruleOf(action) {
  return new URL(action, location.href).searchParams.get("onConflict") ?? "rename";
}

// Takes files that are dropped anywhere on the page. A file of the same name is kept.
function takeDrops(add) {
  const isOfFiles = (event) => event.dataTransfer?.types.includes("Files");
  let depth = 0; // Each element that the pointer enters and leaves reports it.
  const show = (change) => {
    depth = Math.max(0, depth + change);
    document.body.classList.toggle("dropping", depth > 0);
  };
  addEventListener("dragenter", (event) => isOfFiles(event) && show(1));
  addEventListener("dragleave", (event) => isOfFiles(event) && show(-1));
  addEventListener("dragover", (event) => {
    if (!isOfFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  addEventListener("drop", async (event) => {
    if (!isOfFiles(event)) return;
    event.preventDefault();
    show(-depth);
    add(await droppedFiles(event.dataTransfer), "rename");
  });
}

// The files of a drop, also of its folders, with their paths.

async function droppedFiles(transfer) {
  // The entries are there during the event only, so they are taken before anything is awaited.
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const taken = items.map((item) => [item.webkitGetAsEntry?.(), item.getAsFile()]);
  const files = [];
  for (const [entry, file] of taken) {
    if (entry) await walk(entry, files);
    else if (file) files.push({file, path: file.name});
  }
  return files;
}

async function walk(entry, files) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    files.push({file, path: entry.fullPath.replace(/^\//, "")});
    return;
  }
  const reader = entry.createReader();
  // A call returns some of the entries, and none at the end.
  for (let entries = await read(reader); entries.length; entries = await read(reader)) {
    for (const inner of entries) await walk(inner, files);
  }
}

function read(reader) {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}
