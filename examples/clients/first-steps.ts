// The first steps with types that openapi-typescript generates, and openapi-fetch.

import createClient from "openapi-fetch";
import type { paths } from "./strongroom.js";

const [url, username, password] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url });

// Every answer has either data or error, and error.error.code is stable.
function given<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const login = given(await client.POST("/authorizations", { body: { username, password } }));
client.use({
  onRequest({ request }) {
    request.headers.set("Authorization", `Bearer ${login.accessToken}`);
  },
});

const tenant = given(await client.POST("/api/v1/tenants", { body: { name: "Acme" } }));
const form = new FormData();
form.append("file", new Blob(["Kept by TypeScript.\n"], { type: "text/plain" }), "note.txt");
const node = given(
  await client.POST("/api/v1/tenants/{tenantId}/files", {
    params: { path: { tenantId: tenant.id } },
    body: { file: "" }, // the schema knows it as text; what is sent is the form
    bodySerializer: () => form,
  }),
);

const listing = given(
  await client.GET("/api/v1/tenants/{tenantId}/owners/{ownerId}/files", {
    params: { path: { tenantId: tenant.id, ownerId: "me" }, query: { pageSize: 10 } },
  }),
);
for (const item of listing.data) console.log(`${item.name}, ${item.size} bytes, ${item.permission}`);

const content = await client.GET("/api/v1/tenants/{tenantId}/files/{fileId}/download", {
  params: { path: { tenantId: tenant.id, fileId: node.id } },
  parseAs: "text",
});
process.stdout.write(String(content.data));

await client.DELETE("/authorizations/{accessToken}", { params: { path: { accessToken: "current" } } });
const refused = await client.GET("/api/v1/tenants");
console.log(refused.error?.error.code);
