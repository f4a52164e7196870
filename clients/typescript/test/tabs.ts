// Refreshes one login in eight tabs at once: node tabs.js ROUNDS USERNAME URL...

import assert from "node:assert/strict";
import { Client, MemoryTokens, type Tokens } from "@strongroom/client";
import { PASSWORD } from "./support.js";

const TABS = 8;
const [rounds, username, ...urls] = process.argv.slice(2) as [string, string, ...string[]];
// Each tab has its own copy of the tokens, without the lock of a shared store.
const stores = Array.from({ length: TABS }, () => new MemoryTokens());
const tabs = stores.map((tokens, number) => new Client({ url: urls[number % urls.length]!, tokens, retryDelay: 1 }));
await tabs[0]!.logIn({ username, password: PASSWORD });
let tokens: Tokens = stores[0]!.load()!;
for (let round = 0; round < Number(rounds); round++) {
  for (const store of stores) store.save({ ...tokens, accessToken: "expired" });
  const users = await Promise.all(tabs.map((tab) => tab.me()));
  assert.equal(new Set(users.map((user) => user.id)).size, 1);
  const refreshTokens = stores.map((store) => store.load()?.refreshToken);
  assert.equal(new Set(refreshTokens).size, 1, `round ${round}`);
  assert.notEqual(refreshTokens[0], tokens.refreshToken);
  tokens = stores[round % TABS]!.load()!;
}
process.stdout.write(`${rounds} rounds\n`);
