/** Where the tokens of a login are kept. */

import type { components } from "./openapi.js";

/** The tokens of a login, as the server issues them. */
export type Tokens = components["schemas"]["IssuedTokens"];

/**
 * Keeps the tokens of one login.
 *
 * A refresh token is valid once, so that only one client of a store may refresh at a time: clients that
 * share a store need `lock`.
 */
export interface TokenStore {
  load(): Tokens | undefined | Promise<Tokens | undefined>;
  /** Keep the tokens; without tokens, forget them. */
  save(tokens: Tokens | undefined): void | Promise<void>;
  /** Run an action while no other client of the store runs one. */
  lock?<T>(action: () => Promise<T>): Promise<T>;
}

/** Keeps tokens until the page or the process ends. */
export class MemoryTokens implements TokenStore {
  #tokens: Tokens | undefined;

  constructor(tokens?: Tokens) {
    this.#tokens = tokens;
  }

  load(): Tokens | undefined {
    return this.#tokens;
  }

  save(tokens: Tokens | undefined): void {
    this.#tokens = tokens;
  }
}

/**
 * Keeps tokens in the browser's `localStorage`, for all tabs of the origin.
 *
 * Tabs refresh one after the other by the Web Locks API, which browsers offer to secure contexts only
 * (HTTPS, or localhost). Every script of the origin can read the tokens.
 */
export class BrowserTokens implements TokenStore {
  readonly #key: string;

  constructor(key = "strongroom.tokens") {
    this.#key = key;
  }

  load(): Tokens | undefined {
    const text = localStorage.getItem(this.#key);
    return text === null ? undefined : (JSON.parse(text) as Tokens);
  }

  save(tokens: Tokens | undefined): void {
    if (tokens) localStorage.setItem(this.#key, JSON.stringify(tokens));
    else localStorage.removeItem(this.#key);
  }

  async lock<T>(action: () => Promise<T>): Promise<T> {
    const locks = navigator.locks as LockManager | undefined;
    return locks ? await locks.request(this.#key, action) : await action();
  }
}
