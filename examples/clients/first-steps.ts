// The first steps with @strongroom/client: node first-steps.js URL USERNAME PASSWORD

import { ApiError, Client } from "@strongroom/client";

const [url, username, password] = process.argv.slice(2) as [string, string, string];
const client = new Client({ url });
await client.logIn({ username, password });

const { data: tenant } = await client.api.POST("/api/v1/tenants", { body: { name: "Acme" } });
const note = new Blob(["Kept by TypeScript.\n"], { type: "text/plain" });
const file = await client.upload(tenant.id, note, { name: "note.txt" });

const files = "/api/v1/tenants/{tenantId}/owners/{ownerId}/files";
for await (const node of client.iterate(files, { params: { path: { tenantId: tenant.id, ownerId: "me" } } })) {
  console.log(`${node.name}, ${node.size} bytes, ${node.permission}`);
}

const content = new Response(await client.stream(tenant.id, file.id));
process.stdout.write(await content.text());

await client.logOut();
try {
  await client.api.GET("/api/v1/tenants");
} catch (error) {
  if (error instanceof ApiError) console.log(error.code);
}
