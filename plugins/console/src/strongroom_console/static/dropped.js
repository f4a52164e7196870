// The files of a drop, also of its folders, with their paths.

export async function droppedFiles(transfer) {
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
