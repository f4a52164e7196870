// Writes the types of the OpenAPI document: node generate.mjs openapi.json

import { mkdir, readFile, writeFile } from "node:fs/promises";
import openapiTypescript, { astToString } from "openapi-typescript";

const document = JSON.parse(await readFile(process.argv[2], "utf8"));
// The schema of errors leaves their codes open, and lists those of the server apart.
const codes = new Set(document["x-errors"].map(({ code }) => code));
document.components.schemas.ErrorMember.properties.code.enum = [...codes];
const types = await openapiTypescript(document, { defaultNonNullable: false });
// The compiler reads declarations, but does not copy them.
for (const folder of ["src", "dist"]) {
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/openapi.d.ts`, astToString(types));
}
