import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import {
  ApiError,
  CaptchaRequired,
  type Client,
  ConflictError,
  MemoryTokens,
  NotFoundError,
  SecondFactorRequired,
  RateLimitedError,
  UnauthorizedError,
  BadRequestError,
} from "@strongroom/client";
import { counting, createClient, createTenant, createUser, loggedIn, PASSWORD, url } from "./support.js";

const REFRESH = "/authorizations/refresh";

/** Return the current code of a TOTP secret (RFC 6238). */
function totp(secret: string): string {
  const digits = [...secret.replace(/=+$/, "")].map((char) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(char));
  const bits = digits.map((digit) => digit.toString(2).padStart(5, "0")).join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac("sha1", key).update(counter).digest();
  const code = digest.readUInt32BE(digest[19]! & 15) & 0x7fffffff;
  return String(code % 1_000_000).padStart(6, "0");
}

/** Enrol an authenticator app, and return recovery codes. */
async function enrol(client: Client): Promise<string[]> {
  const path = { userId: "me" };
  const begin = (kind: string) =>
    client.api.POST("/users/{userId}/factors", { params: { path }, body: { kind, name: "Phone" } });
  const confirm = (enrolmentId: string, body: { answer?: string }) =>
    client.api.POST("/users/{userId}/factors/{enrolmentId}/confirmation", {
      params: { path: { ...path, enrolmentId } },
      body,
    });
  const { data: app } = await begin("totp");
  await confirm(app.id, { answer: totp(String(app.shown["secret"])) });
  const { data: sheet } = await begin("recovery-code");
  const { data: confirmed } = await confirm(sheet.id, {});
  return confirmed.shown["recoveryCodes"] as string[];
}

test("a login ends by logging out", async () => {
  const client = await loggedIn();
  const { data: me } = await client.api.GET("/users/{userId}", { params: { path: { userId: "me" } } });
  assert.equal(me.name, "Alice");
  await client.logOut();
  await assert.rejects(client.api.GET("/api/v1/tenants"), UnauthorizedError);
});

test("a hook solves the captcha that a login needs after failures", async () => {
  const username = await createUser();
  const solved: string[] = [];
  const captcha = (issued: { id: string }): string => {
    solved.push(issued.id);
    return "42";
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    await assert.rejects(createClient().logIn({ username, password: "wrong" }), {
      code: "error.invalid-credentials",
    });
  }
  await assert.rejects(createClient().logIn({ username, password: PASSWORD }), CaptchaRequired);
  const user = await createClient({ captcha }).logIn({ username, password: PASSWORD });
  assert.equal(user.name, "Alice");
  assert.equal(solved.length, 1);
});

test("a hook answers the challenge of a second factor, again after a wrong answer", async () => {
  const username = await createUser();
  const client = createClient();
  await client.logIn({ username, password: PASSWORD });
  const codes = await enrol(client);
  const login = { username, password: PASSWORD };
  const error = await createClient().logIn(login).catch((reason: unknown) => reason);
  assert.ok(error instanceof SecondFactorRequired);
  assert.deepEqual(error.challenge.methods.includes("recovery-code"), true);

  const answers = ["wrong", codes[0]];
  const secondFactor = () => ({ recoveryCode: answers.shift() });
  const second = createClient();
  assert.equal((await second.logIn({ ...login, secondFactor })).name, "Alice");
  await assert.rejects(createClient().logIn({ ...login, secondFactor: () => undefined }), SecondFactorRequired);

  const before = await second.refresh();
  await second.stepUp({ secondFactor: () => ({ recoveryCode: codes[1] }) });
  const after = await second.refresh();
  assert.notEqual(after.accessToken, before.accessToken);
});

test("an access key needs no login", async () => {
  const owner = await loggedIn();
  await createTenant(owner);
  const { data } = await owner.api.POST("/users/{userId}/access-keys", {
    params: { path: { userId: "me" } },
    body: { name: "Backup", scopes: ["tenants:read"] },
  });
  const client = createClient({ key: data.key });
  assert.equal((await client.api.GET("/api/v1/tenants")).data.data.length, 1);
  await assert.rejects(client.api.POST("/api/v1/tenants", { body: { name: "Other" } }), { status: 403 });
  await assert.rejects(createClient({ key: `${data.key}x` }).api.GET("/api/v1/tenants"), {
    code: "error.token-invalid",
  });
});

test("requests at the same time refresh once", async () => {
  const { fetch, count } = counting(REFRESH);
  const tokens = new MemoryTokens();
  const client = await loggedIn({ fetch, tokens });
  tokens.save({ ...tokens.load()!, accessToken: "expired" });
  await Promise.all(Array.from({ length: 20 }, () => client.api.GET("/api/v1/tenants")));
  assert.equal(count(), 1);
});

test("clients of one store do not use a refresh token twice", async () => {
  const { fetch, count } = counting(REFRESH);
  const tokens = new MemoryTokens();
  let last: Promise<unknown> = Promise.resolve();
  const store = {
    load: () => tokens.load(),
    save: (kept: Parameters<MemoryTokens["save"]>[0]) => tokens.save(kept),
    lock: <T>(action: () => Promise<T>): Promise<T> => {
      const next = last.then(action);
      last = next.catch(() => undefined);
      return next;
    },
  };
  const first = await loggedIn({ fetch, tokens: store });
  const second = createClient({ fetch, tokens: store });
  tokens.save({ ...tokens.load()!, accessToken: "expired" });
  await Promise.all([first, second].map((client) => client.api.GET("/api/v1/tenants")));
  assert.equal(count(), 1);
});

test("a refresh without a response is sent again", async () => {
  let lost = 0;
  const losing: typeof fetch = (input, init) => {
    if (!String(input).endsWith(REFRESH) || lost > 0) return fetch(input, init);
    lost++;
    return Promise.reject(new TypeError("fetch failed"));
  };
  const tokens = new MemoryTokens();
  const client = await loggedIn({ tokens, fetch: losing });
  tokens.save({ ...tokens.load()!, accessToken: "expired" });
  assert.equal((await client.me()).name, "Alice");
  assert.equal(lost, 1);
});

test("the second use of a refresh token ends the login", async () => {
  const tokens = new MemoryTokens();
  const client = await loggedIn({ tokens });
  const stolen = tokens.load()!.refreshToken;
  await client.refresh();
  const reuse = await fetch(url + REFRESH, { method: "POST", headers: { "X-Refresh-Token": stolen } });
  assert.equal(reuse.status, 401);
  await assert.rejects(client.api.GET("/api/v1/tenants"), { code: "error.token-invalid" });
  assert.equal(tokens.load(), undefined);
});

test("errors have a class, a code and a field", async () => {
  const client = await loggedIn();
  const invalid = await client.api
    .POST("/api/v1/tenants", { body: { name: "" } })
    .catch((reason: unknown) => reason);
  assert.ok(invalid instanceof BadRequestError);
  assert.equal(invalid.code, "error.validation-failed");
  assert.equal(invalid.field, "name");
  assert.match(invalid.requestId ?? "", /./);

  const tenantId = await createTenant(client);
  const path = "/api/v1/tenants/{tenantId}/folders";
  const folder = { params: { path: { tenantId } }, body: { name: "Reports" } };
  await client.api.POST(path, folder);
  await assert.rejects(client.api.POST(path, folder), ConflictError);
  const missing = { params: { path: { tenantId, fileId: "missing" } } };
  await assert.rejects(client.api.GET("/api/v1/tenants/{tenantId}/files/{fileId}", missing), NotFoundError);
});

test("an error has the seconds of Retry-After, and a long time is not waited for", async () => {
  const client = createClient();
  const judge = () => client.api.POST("/password-strength", { body: { password: "x" } });
  await judge();
  const error = await judge().catch((reason: unknown) => reason);
  assert.ok(error instanceof RateLimitedError && error instanceof ApiError);
  assert.ok(error.retryAfter! > 60, String(error.retryAfter));
});

test("an unreachable server is a failed connection", async () => {
  const client = createClient({ url: "http://127.0.0.1:9" });
  await assert.rejects(client.api.GET("/livez"), { name: "ConnectionFailed" });
});

test("a client registers a user, says who is logged in, and reports changes", async () => {
  const client = createClient({ captcha: () => "42" });
  const seen: (string | undefined)[] = [];
  const end = client.onChange((user) => seen.push(user?.id));
  const username = `u${Date.now()}`;
  const user = await client.accounts.register({ username, name: "Alice", password: PASSWORD });
  assert.equal(await client.user(), undefined);
  await client.logIn({ username, password: PASSWORD });
  assert.equal((await client.user())?.id, user.id);
  assert.equal((await client.me()).name, "Alice");
  await client.refresh();
  await client.logOut();
  end();
  await client.logIn({ username, password: PASSWORD });
  assert.deepEqual(seen, [user.id, undefined]);
});

test("the device id that the server issued is sent with the next logins", async () => {
  const username = await createUser();
  const tokens = new MemoryTokens();
  const devices: (string | null | undefined)[] = [];
  const first = createClient({ tokens });
  await first.api.POST("/captchas", { body: {} });
  for (const client of [first, createClient({ tokens })]) {
    await client.logIn({ username, password: PASSWORD });
    const { data } = await client.api.GET("/users/{userId}/authorizations", { params: { path: { userId: "me" } } });
    devices.push(data.data.find((login) => login.current)?.device);
    await client.logOut();
  }
  assert.ok(tokens.loadDevice());
  assert.deepEqual(devices, [tokens.loadDevice(), tokens.loadDevice()]);
});

test("a refused code is not requested again with the used captcha", async () => {
  const { fetch, count } = counting("/verification-codes");
  const limited: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).endsWith("/verification-codes")) return response;
    return Response.json({}, { status: 429, headers: { "Retry-After": "0" } });
  };
  const client = createClient({ captcha: () => "42", fetch: limited });
  await assert.rejects(client.accounts.sendCode(`u${Date.now()}@example.com`, "register"), RateLimitedError);
  assert.equal(count(), 1);
});

test("a challenge is that of the device which answers it", async () => {
  const devices: (string | null)[] = [];
  const recorded: typeof fetch = (input, init) => {
    devices.push(new Headers(init?.headers).get("X-Device-Id"));
    return fetch(input, init);
  };
  const tokens = new MemoryTokens();
  tokens.saveDevice("device");
  const client = createClient({ tokens, fetch: recorded });
  await client.api.POST("/authorizations/challenges", { body: {} }).catch(() => undefined);
  await client.api.POST("/passkey-challenges", { body: {} }).catch(() => undefined);
  assert.deepEqual(devices, ["device", "device"]);
});

test("a wrong code resets no password", async () => {
  const client = createClient({ captcha: () => "42" });
  const sent = await client.accounts.sendCode("nobody@example.com", "reset-password");
  const reset = client.accounts.resetPassword("nobody@example.com", { id: sent.id, code: "000000" }, PASSWORD);
  await assert.rejects(reset, { code: "error.code-invalid" });
});

/** Compiled, and not run: the types refuse what is not in the OpenAPI document. */
export async function refusedByTypes(client: Client): Promise<void> {
  // @ts-expect-error  no such path
  await client.api.GET("/api/v1/tenant");
  // @ts-expect-error  a body without its name
  await client.api.POST("/api/v1/tenants", { body: {} });
  // @ts-expect-error  no parameters
  await client.api.GET("/api/v1/tenants/{tenantId}");
  // @ts-expect-error  no collection
  client.iterate("/livez");
  const { data } = await client.api.GET("/api/v1/tenants");
  // @ts-expect-error  no such field
  data.data[0]?.nickname;
}
