// Shares a login with other processes: node share-login.js URL FILE; each line of the input refreshes it.

import { createInterface } from "node:readline";
import { Client } from "@strongroom/client";
import { FileTokens } from "@strongroom/client/node";

const [url, path] = process.argv.slice(2) as [string, string];
const tokens = new FileTokens(path);
const client = new Client({ url, tokens });
process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "hold") {
    await tokens.lock(() => {
      process.stdout.write("held\n");
      return new Promise<never>(() => undefined);
    });
  }
  process.stdout.write(`${(await client.me()).id}\n`);
}
