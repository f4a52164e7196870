// Counts the files of a folder: node iterate.js URL KEY TENANT FOLDER

import { Client } from "@strongroom/client";

const [url, key, tenantId, parentId] = process.argv.slice(2) as [string, string, string, string];
const client = new Client({ url, key });
const path = "/api/v1/tenants/{tenantId}/owners/{ownerId}/files/{parentId}/files";
const init = { params: { path: { tenantId, ownerId: "me", parentId } } };

let count = 0;
let peak = 0;
const names = new Set<string>();
for await (const node of client.iterate(path, init)) {
  if (count++ % 200 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed);
  if (count % 1000 === 0) names.add(node.name);
}
process.stdout.write(`${count} ${names.size} ${Math.round(peak / 1024 / 1024)}\n`);
