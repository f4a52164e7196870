import assert from "node:assert/strict";
import { test } from "node:test";
import { BrowserTokens } from "@strongroom/client";
import { StrongroomProvider, useSession, useStrongroom } from "@strongroom/client/react";
import { createElement, type ReactElement } from "react";
import { renderToString } from "react-dom/server";
import { App } from "./readme-react.js";
import { createClient, url } from "./support.js";

function Account(): string {
  const { status, user } = useSession();
  const { origin } = new URL(url);
  return `${status} ${user?.name} ${useStrongroom().api ? origin : ""}`;
}

function rendered(element: ReactElement): string {
  return renderToString(element);
}

test("a server renders the session as loading, without a browser and a request", () => {
  const fetch = (): never => assert.fail("requested");
  const client = createClient({ tokens: new BrowserTokens(), fetch });
  const html = rendered(createElement(StrongroomProvider, { client }, createElement(Account)));
  assert.equal(html, `loading undefined ${new URL(url).origin}`);
});

test("a server renders the application of the README", () => {
  assert.equal(rendered(createElement(App)), "<p>Loading</p>");
});

test("a browser's token store has no login on a server", async () => {
  const client = createClient({ tokens: new BrowserTokens() });
  assert.deepEqual([await client.user(), await client.accessToken()], [undefined, undefined]);
});

test("a hook outside of the provider is an error", () => {
  assert.throws(() => rendered(createElement(Account)), /StrongroomProvider/);
});
