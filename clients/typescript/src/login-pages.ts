/** Logins on the login page of the server, which returns a code for the tokens (RFC 7636). */

import type { Api } from "./api.js";
import { ApiError, BrowserLoginFailed } from "./errors.js";
import type { components } from "./openapi.js";
import type { Transport } from "./transport.js";

type LoginPageTokens = components["schemas"]["LoginPageTokens"];

export interface LoginPageOptions {
  /** Where the page returns to; one of the server's `[plugins.login_pages] return_urls`. */
  returnUrl: string;
}

/** Opens the login page for a program, and receives what it returns; `LoopbackRedirect` of Node.js. */
export interface LoginRedirect {
  /** Begin to listen, and return the URL that the page returns to. */
  listen(): Promise<string>;
  /** Show the page to the user. */
  open(url: string): void | Promise<void>;
  /** Return the code of the answer to the request with this state. */
  code(state: string, signal: AbortSignal): Promise<string>;
  /** Stop listening. */
  close(): Promise<void>;
}

export interface BrowserLoginOptions {
  /** Milliseconds until the user must have logged in; by default 10 minutes. */
  timeout?: number;
  /** Ends the login when it aborts. */
  signal?: AbortSignal;
}

const PENDING = "strongroom.login";
const PATH = "/account/login";
const TIMEOUT = 600_000;
const UNKNOWN: ReadonlySet<number> = new Set([400, 404]);

/** A request for a login: what the page gets, and the secret that its code needs. */
interface LoginRequest {
  path: string;
  state: string;
  verifier: string;
}

/** Go to the login page of the server, which returns to `returnUrl`. */
export async function openLogin(url: string, { returnUrl }: LoginPageOptions): Promise<void> {
  const { path, state, verifier } = await createRequest(returnUrl);
  sessionStorage.setItem(PENDING, JSON.stringify({ verifier, state }));
  location.assign(url + path);
}

/** Exchange the code in the URL of this page for the tokens of the login that {@link openLogin} began. */
export async function finishLogin(api: Api): Promise<LoginPageTokens | undefined> {
  const here = new URL(location.href);
  const pending = sessionStorage.getItem(PENDING);
  const code = here.searchParams.get("code");
  if (pending === null || code === null) return undefined;
  const returned = here.searchParams.get("state");
  sessionStorage.removeItem(PENDING);
  // Neither belongs into the history.
  for (const name of ["code", "state"]) here.searchParams.delete(name);
  history.replaceState(history.state, "", here);
  const { verifier, state } = JSON.parse(pending) as LoginRequest;
  if (returned !== state) throw new BrowserLoginFailed("This page did not begin the login.");
  return await redeem(api, code, verifier);
}

/** Log in on the login page in the browser of the user, and return the tokens (RFC 8252). */
export async function logInByBrowser(
  transport: Transport,
  api: Api,
  redirect: LoginRedirect,
  { timeout = TIMEOUT, signal }: BrowserLoginOptions,
): Promise<LoginPageTokens> {
  const limit = new AbortController();
  const end = (): void => limit.abort(signal?.reason);
  const late = new BrowserLoginFailed(`No login in the browser within ${timeout / 1000} s.`);
  const timer = setTimeout(() => limit.abort(late), timeout);
  signal?.addEventListener("abort", end, { once: true });
  try {
    signal?.throwIfAborted();
    const { path, state, verifier } = await createRequest(await redirect.listen());
    await requirePage(transport, path);
    const code = redirect.code(state, limit.signal);
    // Otherwise unhandled, if the page cannot be opened.
    code.catch(() => undefined);
    await redirect.open(transport.url + path);
    return await redeem(api, await code, verifier);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    await redirect.close();
  }
}

/** Check that the server has the page, because an error would stay in the browser. */
async function requirePage(transport: Transport, path: string): Promise<void> {
  try {
    const response = await transport.sendWith(undefined, path, {});
    await response.body?.cancel();
  } catch (cause) {
    if (!(cause instanceof ApiError) || !UNKNOWN.has(cause.status)) throw cause;
    throw new BrowserLoginFailed("The server offers no login by browser to this program.", { cause });
  }
}

async function redeem(api: Api, code: string, codeVerifier: string): Promise<LoginPageTokens> {
  return (await api.POST("/api/v1/login-codes", { body: { code, codeVerifier } })).data;
}

/** Return a new request, with the challenge of its verifier (RFC 7636, section 4.2). */
async function createRequest(returnUrl: string): Promise<LoginRequest> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const state = crypto.randomUUID();
  const query = { returnUrl, state, codeChallenge: base64url(new Uint8Array(digest)) };
  return { path: `${PATH}?${new URLSearchParams(query)}`, state, verifier };
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
