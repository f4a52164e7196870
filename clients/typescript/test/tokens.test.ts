import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, stat, utimes } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { BrowserTokens, MemoryTokens, UnauthorizedError } from "@strongroom/client";
import { FileTokens } from "@strongroom/client/node";
import { counting, createClient, loggedIn, url } from "./support.js";

const REFRESH = "/authorizations/refresh";
const PROGRAM = fileURLToPath(new URL("share-login.js", import.meta.url));
const OLD = new Date(0);

async function newFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "strongroom-")), "login", "tokens.json");
}

/** Start a process that shares the login in a file, and return what exchanges lines with it. */
async function sharing(path: string) {
  const child = spawn(process.execPath, [PROGRAM, url, path], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<string> => String((await lines.next()).value);
  assert.equal(await read(), "ready");
  return { child, read, write: (line: string) => child.stdin.write(`${line}\n`) };
}

/** Wait until pending reports are done. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test("an access token for other servers is fresh", async () => {
  const { fetch, count } = counting(REFRESH);
  const tokens = new MemoryTokens();
  const client = await loggedIn({ fetch, tokens });
  const first = await client.accessToken();
  assert.equal(first, tokens.load()!.accessToken);
  tokens.save({ ...tokens.load()!, expiresAt: new Date(Date.now() + 10_000).toISOString() });
  const [second, third] = await Promise.all([client.accessToken(), client.accessToken()]);
  assert.ok(second !== first && second === third);
  assert.equal(count(), 1);
  assert.equal(await createClient({ key: "srk_x" }).accessToken(), "srk_x");
  assert.equal(await createClient().accessToken(), undefined);
});

test("a tab that clears the storage is reported", () => {
  const listeners: ((event: { key: string | null }) => void)[] = [];
  const addEventListener = (_: string, listener: (event: { key: string | null }) => void) => listeners.push(listener);
  const browser = { document: {}, addEventListener };
  Object.assign(globalThis, browser);
  let reports = 0;
  new BrowserTokens("probe").watch(() => (reports += 1));
  for (const key of ["other", "probe", null]) listeners[0]!({ key });
  for (const name of Object.keys(browser)) Reflect.deleteProperty(globalThis, name);
  assert.equal(reports, 2);
});

test("a login that another tab ends or replaces is reported, also when it began before this page", async () => {
  const kept = new MemoryTokens();
  const other = await loggedIn({ tokens: kept });
  const first = kept.load()!;
  const second = (await loggedIn()).user();
  const watchers: (() => void)[] = [];
  const store = {
    load: () => kept.load(),
    save: (tokens: Parameters<MemoryTokens["save"]>[0]) => kept.save(tokens),
    watch: (listener: () => void) => void watchers.push(listener),
  };
  const changed = async (tokens: Parameters<MemoryTokens["save"]>[0]): Promise<void> => {
    kept.save(tokens);
    for (const report of watchers) report();
    await settled();
  };
  const watch = async (): Promise<(string | undefined)[]> => {
    const ids: (string | undefined)[] = [];
    createClient({ tokens: store }).onChange((user) => ids.push(user?.id));
    await settled();
    return ids;
  };
  const early = await watch();
  await changed({ ...first, accessToken: "refreshed" });
  const late = await watch();
  await changed(undefined);
  await changed({ ...first, user: (await second)! });
  await changed(first);
  const expected = [undefined, (await second)!.id, first.user.id];
  assert.deepEqual([early, late], [expected, expected]);
  assert.equal((await other.user())?.id, first.user.id);
});

test("a backend of one's own gets the token, again after 401, and no other server does", async () => {
  const seen: (string | undefined)[] = [];
  const statuses = [200, 401, 200, 401, 500];
  const backend = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(statuses.shift()!).end();
  }).listen(0, "127.0.0.1");
  await once(backend, "listening");
  const origin = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  const tokens = new MemoryTokens();
  const client = await loggedIn({ tokens, backends: [origin] });
  const first = tokens.load()!.accessToken;
  const init = { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } };
  assert.equal((await client.fetch(`${origin}/orders`, init)).status, 200);
  assert.equal((await client.fetch(new URL(`${origin}/orders`), init)).status, 200);
  const second = tokens.load()!.accessToken;
  assert.notEqual(second, first);
  assert.deepEqual(seen, [first, first, second].map((token) => `Bearer ${token}`));
  assert.equal((await client.fetch(`${url}/users/me`)).status, 200);

  for (const other of ["http://127.0.0.1:9/", `${origin}.example.com/`, "https://example.com"]) {
    await assert.rejects(client.fetch(other), TypeError);
  }
  // The login ends elsewhere: the answer of the backend is the result.
  await createClient({ key: second }).logOut();
  assert.equal((await client.fetch(origin)).status, 401);
  assert.equal(tokens.load(), undefined);
  assert.equal((await client.fetch(origin)).status, 500);
  assert.equal(seen.at(-1), undefined);
  backend.close();
});

test("processes share the login in a file, and refresh it once", async () => {
  const path = await newFile();
  const tokens = new FileTokens(path);
  const client = await loggedIn({ tokens });
  const { id } = (await client.user())!;
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const before = (await tokens.load())!;
  await tokens.save({ ...before, accessToken: "expired" });
  const processes = await Promise.all([sharing(path), sharing(path), sharing(path)]);
  for (const { write } of processes) write("me");
  // A second use of the refresh token would have ended the login.
  assert.deepEqual(await Promise.all(processes.map(({ read }) => read())), [id, id, id]);
  assert.notEqual((await tokens.load())!.refreshToken, before.refreshToken);

  const [killed] = processes;
  killed!.write("hold");
  assert.equal(await killed!.read(), "held");
  killed!.child.kill("SIGKILL");
  await once(killed!.child, "exit");
  await utimes(`${path}.lock`, OLD, OLD);
  await tokens.save({ ...(await tokens.load())!, accessToken: "expired" });
  assert.equal((await client.me()).id, id);
  for (const { child } of processes) child.stdin.end();

  await tokens.saveDevice("device");
  await client.logOut();
  assert.equal(await tokens.load(), undefined);
  assert.equal(await new FileTokens(path).loadDevice(), "device");
  assert.deepEqual(await readdir(join(path, "..")), ["tokens.json.device"]);
  await assert.rejects(client.me(), UnauthorizedError);
});

test("a lock in use is waited for", async () => {
  const path = await newFile();
  const order: string[] = [];
  let hold!: () => void;
  const held = new Promise<void>((resolve) => (hold = resolve));
  const first = new FileTokens(path).lock(async () => {
    hold();
    while (order.length < 1) await new Promise(setImmediate);
    order.push("first");
  });
  await held;
  const second = new FileTokens(path).lock(async () => void order.push("second"));
  order.push("begun");
  await Promise.all([first, second]);
  assert.deepEqual(order, ["begun", "first", "second"]);
});
