import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { BrowserLoginFailed } from "@strongroom/client";
import { LoopbackRedirect } from "@strongroom/client/node";
import { createClient, createUser, PASSWORD } from "./support.js";

/** Log in on the login page without a browser, and return the answer of the page that it leads to. */
async function logInOn(address: string, username: string): Promise<Response> {
  const page = await fetch(address);
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())![1]!;
  const cookie = page.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  const form = { csrf, username, password: PASSWORD, way: "password" };
  const init = { method: "POST", body: new URLSearchParams(form), headers: { cookie }, redirect: "manual" } as const;
  const answer = await fetch(new URL("/account/login", address), init);
  return await fetch(answer.headers.get("Location")!, { headers: { "Accept-Language": "zh-CN" } });
}

test("the login page returns a login to a free port of this computer", async () => {
  const username = await createUser();
  const client = createClient();
  const shown: string[] = [];
  const refused: number[] = [];
  const open = async (address: string): Promise<void> => {
    const returnUrl = new URL(address).searchParams.get("returnUrl")!;
    const state = new URL(address).searchParams.get("state")!;
    const wrong = ["?code=x", `?state=${state}`, `?state=${state}x&code=x`].map((query) => returnUrl + query);
    for (const attempt of [...wrong, new URL("/other", returnUrl)]) refused.push((await fetch(attempt)).status);
    shown.push(await (await logInOn(address, username)).text());
  };
  const user = await client.logInByBrowser(new LoopbackRedirect({ open }));
  assert.equal(user.name, "Alice");
  assert.deepEqual(await client.user(), user);
  assert.equal((await client.me()).id, user.id);
  assert.match(shown[0]!, /可以关闭本页面/);
  assert.deepEqual(refused, [400, 400, 400, 404]);
});

test("paths that are no URL do not end the program", async () => {
  const statuses: (number | undefined)[] = [];
  const open = async (address: string): Promise<void> => {
    const { port } = new URL(new URL(address).searchParams.get("returnUrl")!);
    for (const path of ["//", "//[", "*", "/strongroom-client?%"]) {
      const [response] = (await once(get({ port, path }), "response")) as [IncomingMessage];
      response.resume();
      statuses.push(response.statusCode);
    }
  };
  const login = createClient().logInByBrowser(new LoopbackRedirect({ open }), { timeout: 1000 });
  await assert.rejects(login, BrowserLoginFailed);
  assert.deepEqual(statuses, [404, 404, 404, 400]);
});

test("a login that does not come back ends", async () => {
  const redirect = (): LoopbackRedirect => new LoopbackRedirect({ open: () => undefined });
  await assert.rejects(createClient().logInByBrowser(redirect(), { timeout: 10 }), BrowserLoginFailed);
  const reason = new Error("stopped");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(createClient().logInByBrowser(redirect(), { signal }), reason);
  const broken = new LoopbackRedirect({ open: () => Promise.reject(reason) });
  await assert.rejects(createClient().logInByBrowser(broken), reason);
});

test("a server that does not know the program is not opened", async () => {
  class Unknown extends LoopbackRedirect {
    override async listen(): Promise<string> {
      return (await super.listen()).replace("/strongroom-client", "/unknown");
    }
  }
  const open = (): void => assert.fail("opened");
  await assert.rejects(createClient().logInByBrowser(new Unknown({ open })), /offers no login by browser/);
});
