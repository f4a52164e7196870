// Transfers one file: node transfer.js up|down URL KEY TENANT FILE|ID PATH FOLDER

import { Client, type Progress } from "@strongroom/client";
import { FileSource, FileTarget, FolderUploads } from "@strongroom/client/node";

const [direction, url, key, tenantId, fileId, path, folder] = process.argv.slice(2) as string[];
const client = new Client({ url: url!, key: key!, retryDelay: 20 });
const haltAt = Number(process.env["HALT_AT"] ?? Infinity);

function onProgress({ done, total }: Progress): void {
  process.stdout.write(`${done} ${total}\n`);
  // By itself, because another process might come too late.
  if (done >= haltAt) process.kill(process.pid, "SIGKILL");
}

if (direction === "up") {
  const state = new FolderUploads(folder!);
  const chunkSize = 1024 * 1024;
  const source = await FileSource.of(path!);
  const node = await client.upload(tenantId!, source, { state, chunkSize, onProgress });
  process.stdout.write(`${node.id} ${node.checksum}\n`);
} else {
  const node = await client.download(tenantId!, fileId!, new FileTarget(path!), { onProgress });
  process.stdout.write(`${node.id} ${node.checksum}\n`);
}
