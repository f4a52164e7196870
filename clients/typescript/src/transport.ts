/** Sends requests: adds the token, refreshes it, repeats what may be repeated, throws typed errors. */

import { ApiError, ConnectionFailed, RateLimitedError, UnauthorizedError, ServerError } from "./errors.js";
import type { paths } from "./openapi.js";
import type { Tokens, WatchedTokens } from "./tokens.js";

/** How often a request is sent, while the server or the network fails. */
export const ATTEMPTS = 4;

const REFRESH: keyof paths = "/authorizations/refresh";
const DEVICE = "X-Device-Id";
/** Where the server counts by device, records the device of a login or challenge, or issues an id. */
const DEVICE_PATHS: ReadonlySet<string> = new Set<keyof paths>([
  "/authorizations",
  "/authorizations/challenges",
  "/captchas",
  "/passkey-challenges",
  "/verification-codes",
]);
const LONGEST_WAIT = 60;
/** Milliseconds. A token that ends so soon is exchanged before a stream is sent. */
const EARLY = 30_000;
const TEMPORARY = new Set([502, 503, 504]);
const IDEMPOTENT = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);

/** A request. A stream is sent once; other bodies can be sent again. */
export interface Call extends Omit<RequestInit, "headers"> {
  headers?: HeadersInit;
  /** Demanded for a stream: the response is read after the whole body is sent. */
  duplex?: "half";
}

export interface TransportOptions {
  /** The root URL of the server, with its base path. */
  url: string;
  /** An access key, instead of a login. */
  key: string | undefined;
  tokens: WatchedTokens;
  fetch: typeof fetch;
  /** Milliseconds before the second attempt; doubled for each further one. */
  retryDelay: number;
}

export class Transport {
  readonly url: string;
  readonly tokens: WatchedTokens;
  readonly #options: TransportOptions;
  #refreshing: Promise<Tokens> | undefined;

  constructor(options: TransportOptions) {
    this.url = options.url.replace(/\/+$/, "");
    this.tokens = options.tokens;
    this.#options = options;
  }

  /**
   * Send a request as the user, and return the response, whose status is below 400.
   *
   * Throws {@link ApiError}, or {@link ConnectionFailed} if no response arrived.
   */
  async send(path: string, call: Call = {}): Promise<Response> {
    const token = isStreamed(call) ? await this.accessToken() : await this.#token();
    try {
      return await this.sendWith(token, path, call);
    } catch (error) {
      if (!token || this.#options.key || isStreamed(call) || !isTokenInvalid(error)) throw error;
      const { accessToken } = await this.refresh(token);
      return await this.sendWith(accessToken, path, call);
    }
  }

  /** Return the access key, or a token that does not end soon; nothing without a login. */
  async accessToken(): Promise<string | undefined> {
    await this.#refreshSoonExpiring();
    return await this.#token();
  }

  /** Send a request to any URL as the user, and return the response; after 401 once more, with a new token. */
  async fetch(url: URL, init: RequestInit): Promise<Response> {
    const token = await this.accessToken();
    const response = await this.#fetchWith(token, url, init);
    if (response.status !== 401 || !token || this.#options.key || isStreamed(init)) return response;
    try {
      const { accessToken } = await this.refresh(token);
      await response.body?.cancel();
      return await this.#fetchWith(accessToken, url, init);
    } catch (error) {
      if (isTokenInvalid(error)) return response;
      throw error;
    }
  }

  async #fetchWith(token: string | undefined, url: URL, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    const { fetch } = this.#options;
    return await fetch(url, { ...init, headers });
  }

  /** Send a request with this token, or with none; otherwise like {@link send}. */
  async sendWith(token: string | undefined, path: string, call: Call): Promise<Response> {
    const url = this.url + path;
    const headers = new Headers(call.headers);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    const device = DEVICE_PATHS.has(path) ? await this.tokens.loadDevice() : undefined;
    if (device && !headers.has(DEVICE)) headers.set(DEVICE, device);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#sendOnce(url, { ...call, headers });
      } catch (error) {
        if (attempt === ATTEMPTS || isStreamed(call) || !mayRepeat(error, path, { ...call, headers })) throw error;
        await this.pause(attempt, error, call.signal);
      }
    }
  }

  /**
   * Exchange the refresh token for new tokens, once however many callers wait for it.
   *
   * @param stale the access token that the server refused; tokens that another client of the store has
   * received since are returned without a request.
   */
  refresh(stale?: string): Promise<Tokens> {
    const lock = this.tokens.lock?.bind(this.tokens) ?? ((action) => action());
    this.#refreshing ??= lock(() => this.#exchange(stale)).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Wait before another attempt: as long as the server demands, at most a minute, or longer for each failure. */
  async pause(failures: number, error: unknown, signal?: AbortSignal | null): Promise<void> {
    const demanded = error instanceof ApiError ? error.retryAfter : undefined;
    if ((demanded ?? 0) > LONGEST_WAIT) throw error;
    const delay = this.#options.retryDelay * 2 ** (failures - 1) * (1 + Math.random());
    await sleep(demanded === undefined ? delay : demanded * 1000, signal);
  }

  async #token(): Promise<string | undefined> {
    return this.#options.key ?? (await this.tokens.load())?.accessToken;
  }

  /** Exchange a token that ends soon: before a stream, which is sent once, and for other servers. */
  async #refreshSoonExpiring(): Promise<void> {
    if (this.#options.key) return;
    const tokens = await this.tokens.load();
    if (tokens && Date.parse(tokens.expiresAt) < Date.now() + EARLY) await this.refresh(tokens.accessToken);
  }

  async #sendOnce(url: string, call: Call): Promise<Response> {
    // Called as a function, because browsers refuse a fetch that is called as a method.
    const { fetch } = this.#options;
    let response: Response;
    try {
      response = await fetch(url, call);
    } catch (cause) {
      if (call.signal?.aborted) throw cause;
      throw new ConnectionFailed(`No response from ${new URL(url).origin}.`, { cause });
    }
    const issued = response.headers.get(DEVICE);
    if (issued) await this.tokens.saveDevice(issued);
    if (response.status >= 400) throw await ApiError.of(response);
    return response;
  }

  async #exchange(stale: string | undefined): Promise<Tokens> {
    const kept = await this.tokens.load();
    if (kept && stale !== undefined && kept.accessToken !== stale) return kept;
    // The header is sent without a body. If no response arrives, the token may have been used. The server
    // accepts it for some seconds more; without another request the login would be lost anyway.
    const headers: HeadersInit = kept ? { "X-Refresh-Token": kept.refreshToken } : {};
    try {
      const response = await this.sendWith(undefined, REFRESH, { method: "POST", headers });
      const tokens = (await response.json()) as Tokens;
      await this.tokens.save(tokens);
      return tokens;
    } catch (error) {
      if (isTokenInvalid(error)) await this.tokens.save(undefined);
      throw error;
    }
  }
}

function isStreamed(call: RequestInit): boolean {
  return call.body instanceof ReadableStream;
}

/** Return whether the server refused the token itself: it has expired, or the login has ended. */
function isTokenInvalid(error: unknown): boolean {
  return error instanceof UnauthorizedError && error.code === "error.token-invalid";
}

/** Return whether the server or the network has failed in a way that often ends soon. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionFailed) return true;
  return error instanceof ServerError && TEMPORARY.has(error.status);
}

/** Return whether a request that failed may be sent again: nothing was done, or doing it twice is harmless. */
function mayRepeat(error: unknown, path: string, call: Call): boolean {
  // The refused request has used the captcha up.
  if (error instanceof RateLimitedError) return !hasCaptcha(call);
  // The first attempt, whose response was lost, is still being processed.
  if (error instanceof ApiError && error.code === "error.idempotency-running") return true;
  const isKeyed = new Headers(call.headers).has("Idempotency-Key");
  return isTemporary(error) && (isKeyed || path === REFRESH || IDEMPOTENT.has(call.method ?? "GET"));
}

/** Return whether the body has the answer to a captcha, which is valid for one request. */
function hasCaptcha({ body }: Call): boolean {
  if (typeof body !== "string") return false;
  try {
    return Boolean((JSON.parse(body) as { captcha?: unknown } | null)?.captcha);
  } catch {
    return false;
  }
}

/** Return after some milliseconds; throw when the signal aborts. */
export function sleep(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
}
