import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import {
  BadRequestError,
  type Client,
  ConflictError,
  ForbiddenError,
  type LineError,
  MemoryTokens,
  NotFoundError,
  PasswordChangeRequired,
  UnauthorizedError,
  type User,
  type UserLines,
} from "@strongroom/client";
import { administrator, counting, createClient, loggedIn, PASSWORD } from "./support.js";

const PHPASS = { algorithm: "phpass", hash: "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0" };

function newName(): string {
  return `u${randomUUID().replaceAll("-", "")}`;
}

/** Create a user with a username and a password. */
async function created({ users }: Client): Promise<User> {
  return await users.create({ name: "Anna", username: newName(), password: PASSWORD });
}

/** Return the client of a user. */
async function clientOf({ username }: User): Promise<Client> {
  const client = createClient();
  await client.logIn({ username: username!, password: PASSWORD });
  return client;
}

test("an administrator creates a user with the password of another system", async () => {
  const { users } = await administrator();
  const email = `${newName()}@example.com`;
  const user = await users.create({ name: "Anna", email, emailVerified: true, passwordHash: PHPASS });
  assert.deepEqual([user.email, user.emailVerified, user.status], [email, true, "active"]);
  const loggedInUser = await createClient().logIn({ username: email, password: "test12345" });
  assert.equal(loggedInUser.id, user.id);
});

test("each wrong field has its error, and a taken name is a conflict", async () => {
  const client = await administrator();
  const wrong = await client.users.create({ name: "Anna", username: "a", mobile: "12" }).catch((error: unknown) => error);
  assert.ok(wrong instanceof BadRequestError);
  assert.deepEqual(wrong.details.map(({ field }) => field).sort(), ["mobile", "username"]);

  const { username } = await created(client);
  const taken = await client.users.create({ name: "Ben", username }).catch((error: unknown) => error);
  assert.ok(taken instanceof ConflictError);
  assert.equal(taken.field, "username");
});

test("users are found by their names, and iterated by filters", async () => {
  const client = await administrator();
  const user = await created(client);
  assert.deepEqual(await client.users.get(user.id), user);
  assert.deepEqual(await client.users.find(user.username!), user);
  assert.equal(await client.users.find("missing@example.com"), undefined);
  const types = new Set<string>();
  for await (const { type } of client.users.iterate({ type: "ADMIN" })) types.add(type);
  assert.deepEqual([...types], ["ADMIN"]);
});

test("a suspended user cannot log in until the suspension ends", async () => {
  const { users } = await administrator();
  const user = await users.create({ name: "Anna", username: newName(), password: PASSWORD });
  const client = await clientOf(user);
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const suspended = await users.suspend(user.id, { reason: "left", until });
  assert.deepEqual([suspended.status, suspended.suspensionReason], ["suspended", "left"]);
  assert.equal(Date.parse(suspended.suspendedUntil!), Date.parse(until));
  await assert.rejects(client.me(), { code: "error.token-invalid" });
  await assert.rejects(clientOf(user), { code: "error.user-suspended" });
  assert.equal((await users.reinstate(user.id)).status, "active");
  assert.equal((await (await clientOf(user)).me()).id, user.id);
});

test("a user is changed, logged out and deleted", async () => {
  const administration = await administrator();
  const user = await created(administration);
  assert.equal((await administration.users.change(user.id, { name: "Anne" })).name, "Anne");
  const client = await clientOf(user);
  await administration.users.endLogins(user.id);
  await assert.rejects(client.me(), { code: "error.token-invalid" });
  await administration.users.delete(user.id);
  await assert.rejects(administration.users.get(user.id), NotFoundError);
});

test("other users manage no users", async () => {
  const client = await loggedIn();
  await assert.rejects(client.users.suspend((await client.me()).id), ForbiddenError);
});

test("a key of a service account creates users until it is revoked", async () => {
  const { serviceAccounts, users } = await administrator();
  const account = await serviceAccounts.create("Provisioning");
  assert.equal((await serviceAccounts.rename(account.id, "Sync")).name, "Sync");
  const key = await serviceAccounts.createKey(account.id, { name: "Sync", scopes: ["users:write"] });
  const robot = createClient({ key: key.key });
  const user = await created(robot);
  assert.deepEqual(await users.get(user.id), user);
  const keys = [];
  for await (const { id } of serviceAccounts.keys(account.id)) keys.push(id);
  assert.deepEqual(keys, [key.id]);
  await serviceAccounts.revokeKey(account.id, key.id);
  await assert.rejects(robot.users.get(user.id), { code: "error.token-invalid" });
  await serviceAccounts.delete(account.id);
  for await (const { id } of serviceAccounts.iterate()) assert.notEqual(id, account.id);
});

test("contacts are set and removed, and metadata merged", async () => {
  const client = await administrator();
  const { id } = await created(client);
  const value = `${newName()}@example.com`;
  const contact = await client.users.setContact(id, "email", { value, verified: true });
  assert.deepEqual([contact.value, contact.verified], [value, true]);
  const { email, emailVerified } = await client.users.get(id);
  assert.deepEqual([email, emailVerified], [value, true]);
  await client.users.removeContact(id, "email");
  assert.equal((await client.users.get(id)).email, null);

  await client.users.changeMetadata(id, { room: 1, desk: 7 });
  assert.deepEqual(await client.users.changeMetadata(id, { room: null }), { desk: 7 });
  assert.deepEqual(await client.users.metadata(id), { desk: 7 });
  assert.deepEqual(await client.users.changeServerMetadata(id, { plan: "gold" }), { plan: "gold" });
  assert.deepEqual(await client.users.serverMetadata(id), { plan: "gold" });
});

test("a temporary password is replaced at the login", async () => {
  const client = await administrator();
  const { id, username } = await created(client);
  const { password } = await client.users.giveTemporaryPassword(id);
  const login = { username: username!, password };
  await assert.rejects(createClient().logIn(login), PasswordChangeRequired);
  assert.equal((await createClient().logIn({ ...login, newPassword: "Other1Horse" })).id, id);
  const changed = { username: username!, password: "Other1Horse", newPassword: PASSWORD };
  // A password that need not change stays.
  assert.equal((await createClient().logIn(changed)).id, id);
  await assert.rejects(createClient().logIn({ username: username!, password: PASSWORD }), UnauthorizedError);
});

test("a link sets a password once", async () => {
  const client = await administrator();
  const user = await created(client);
  const link = await client.users.createLink(user.id, { kind: "reset", send: false });
  const token = link.url!.split(/[/#]/).at(-1)!;
  const { accounts } = createClient();
  await accounts.redeemLink(token, "Other1Horse");
  const loggedInUser = await createClient().logIn({ username: user.username!, password: "Other1Horse" });
  assert.equal(loggedInUser.id, user.id);
  await assert.rejects(accounts.redeemLink(token, PASSWORD), { code: "error.account-link-invalid" });
});

test("an impersonation reads as the user until it is ended", async () => {
  const client = await administrator();
  const user = await created(client);
  const acting = await client.impersonate(user.id, { reason: "Ticket 7", minutes: 5 });
  assert.equal((await acting.me()).id, user.id);
  assert.deepEqual(await acting.user(), { id: user.id, name: user.name, type: user.type });
  assert.ok(Date.parse(acting.expiresAt) < Date.now() + 6 * 60_000);
  await assert.rejects(acting.users.change(user.id, { name: "Anne" }), { code: "error.impersonation-refused" });
  await acting.end();
  await assert.rejects(acting.me(), { code: "error.token-invalid" });
  await acting.end();
  assert.equal((await client.me()).type, "ADMIN");
});

/** Import users, and return the usernames that the server then has, and the refused lines. */
async function imported(users: UserLines, names: string[]): Promise<[number, LineError[]]> {
  const client = await administrator();
  const { id } = await client.userImports.create(users, { onConflict: "skip" });
  const reports: number[] = [];
  const ended = await client.userImports.wait(id, { onProgress: ({ read }) => reports.push(read), interval: 50 });
  assert.equal(ended.state, "finished");
  assert.deepEqual(reports, reports.toSorted((a, b) => a - b));
  for (const name of [names[0]!, names.at(-1)!]) assert.ok(await client.users.find(name));
  const errors = [];
  for await (const error of client.userImports.errors(id)) errors.push(error);
  return [ended.created, errors];
}

test("users of an iterable are imported with progress, and refused lines iterated", async () => {
  const names = Array.from({ length: 450 }, newName);
  async function* users(): AsyncGenerator<object> {
    for (const username of [...names, "x"]) yield { name: "User", username };
  }
  const [count, errors] = await imported(users(), names);
  assert.equal(count, 450);
  assert.deepEqual(errors.map(({ line, field }) => [line, field]), [[451, "username"]]);
});

test("users of a blob and of a stream are imported", async () => {
  for (const kind of ["blob", "stream"]) {
    const name = newName();
    const blob = new Blob([JSON.stringify({ name: "Anna", username: name }), "\n"]);
    assert.deepEqual(await imported(kind === "blob" ? blob : blob.stream(), [name]), [1, []]);
  }
});

test("exported users are what an import accepts", async () => {
  const client = await administrator();
  const { username } = await created(client);
  const lines = [];
  for await (const line of client.users.export()) if (line.username === username) lines.push(line);
  assert.equal(lines.length, 1);
  assert.equal(lines[0]!.name, "Anna");
  assert.equal("password" in lines[0]!, false);
  const { id } = await client.userImports.create(lines, { onConflict: "skip" });
  assert.equal((await client.userImports.wait(id, { interval: 50 })).skipped, 1);
});

test("a platform that sends no streams imports a blob", async () => {
  const bodies: unknown[] = [];
  const watched: typeof fetch = (input, init) => {
    if (String(input).includes("/user-imports?")) bodies.push(init?.body);
    return fetch(input, init);
  };
  const client = createClient({ fetch: watched });
  await client.logIn({ username: process.env["STRONGROOM_ADMINISTRATOR"]!, password: PASSWORD });
  const users = [{ name: "Anna", username: newName() }];
  await client.userImports.create(users, { dryRun: true });
  Object.assign(globalThis, { document: {} });
  try {
    await client.userImports.create(users, { dryRun: true });
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
  assert.deepEqual(bodies.map((body) => body instanceof Blob), [false, true]);
});

test("a token that has nearly expired is exchanged before users are streamed", async () => {
  const refreshes = counting("/authorizations/refresh");
  const tokens = new MemoryTokens();
  const client = createClient({ tokens, fetch: refreshes.fetch });
  await client.logIn({ username: process.env["STRONGROOM_ADMINISTRATOR"]!, password: PASSWORD });
  tokens.save({ ...tokens.load()!, accessToken: "expired", expiresAt: new Date().toISOString() });
  const { dryRun } = await client.userImports.create([{ name: "Anna", username: newName() }], { dryRun: true });
  assert.deepEqual([dryRun, refreshes.count()], [true, 1]);
});

test("the link in the notice of a changed contact restores it with a new password", async () => {
  const { users } = await administrator();
  const email = `${newName()}@example.com`;
  const user = await users.create({ name: "Anna", email, emailVerified: true, password: PASSWORD });
  await users.setContact(user.id, "email", { value: `${newName()}@example.com` });
  const sent = (await readFile(process.env["STRONGROOM_OUTBOX"]!, "utf8")).trim().split("\n");
  const notice = sent.findLast((line) => line.includes(email) && line.includes("/account/restore/"));
  const token = /\/account\/restore\/([\w-]+)/.exec(notice!)![1]!;
  const { accounts } = createClient();
  assert.equal((await accounts.previewRestoration(token)).kind, "email");
  await accounts.restoreContact(token, `${PASSWORD}2`);
  const client = createClient();
  await client.logIn({ username: email, password: `${PASSWORD}2` });
  assert.equal((await client.me()).email, email);
  await assert.rejects(accounts.restoreContact(token, PASSWORD), BadRequestError);
});
