/** Where the tokens of a login are kept. */

import type { components } from "./openapi.js";

/** The tokens of a login, as the server issues them. */
export type Tokens = components["schemas"]["IssuedTokens"];

/** The user of a login. */
export type LoggedInUser = Tokens["user"];

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
  /** Return the id of this device, which the server issued. It outlasts the login. */
  loadDevice?(): string | undefined | Promise<string | undefined>;
  /** Keep the id of this device; without this method, it ends with the client. */
  saveDevice?(id: string): void | Promise<void>;
  /** Call a function when another client has changed the tokens. */
  watch?(listener: () => void): void;
}

/** Passes the tokens on to another store, and reports when the user who is logged in changes. */
export class WatchedTokens implements TokenStore {
  readonly #store: TokenStore;
  readonly #listeners = new Set<(user: LoggedInUser | undefined) => void>();
  readonly lock?: <T>(action: () => Promise<T>) => Promise<T>;
  /** The id of the user who was seen last; `null` without a login, and nothing before the store was read. */
  #last: string | null | undefined;
  #device: string | undefined;

  constructor(store: TokenStore) {
    this.#store = store;
    if (store.lock) this.lock = store.lock.bind(store);
    store.watch?.(() => void this.#report());
  }

  async load(): Promise<Tokens | undefined> {
    const tokens = await this.#store.load();
    if (this.#last === undefined) this.#last = idOf(tokens);
    return tokens;
  }

  async save(tokens: Tokens | undefined): Promise<void> {
    // Otherwise a login that began before this page would count as a new one.
    await this.load();
    await this.#store.save(tokens);
    await this.#report();
  }

  async loadDevice(): Promise<string | undefined> {
    return (await this.#store.loadDevice?.()) ?? this.#device;
  }

  async saveDevice(id: string): Promise<void> {
    this.#device = id;
    await this.#store.saveDevice?.(id);
  }

  /** Call a function whenever a user has logged in or out; return what ends that. */
  onChange(listener: (user: LoggedInUser | undefined) => void): () => void {
    this.#listeners.add(listener);
    // Later changes are compared with it; the store fails again for whatever needs it.
    this.load().catch(() => undefined);
    return () => void this.#listeners.delete(listener);
  }

  async #report(): Promise<void> {
    const tokens = await this.#store.load();
    // A refresh changes the tokens only.
    if (idOf(tokens) === this.#last) return;
    this.#last = idOf(tokens);
    for (const listener of this.#listeners) listener(tokens?.user);
  }
}

function idOf(tokens: Tokens | undefined): string | null {
  return tokens?.user.id ?? null;
}

/** Keeps tokens until the page or the process ends. */
export class MemoryTokens implements TokenStore {
  #tokens: Tokens | undefined;
  #device: string | undefined;

  constructor(tokens?: Tokens) {
    this.#tokens = tokens;
  }

  load(): Tokens | undefined {
    return this.#tokens;
  }

  save(tokens: Tokens | undefined): void {
    this.#tokens = tokens;
  }

  loadDevice(): string | undefined {
    return this.#device;
  }

  saveDevice(id: string): void {
    this.#device = id;
  }
}

/**
 * Keeps tokens in the browser's `localStorage`, for all tabs of the origin.
 *
 * Tabs refresh one after the other by the Web Locks API, which browsers offer to secure contexts only
 * (HTTPS, or localhost). Every script of the origin can read the tokens. On a server that renders pages, the
 * store has no login.
 */
export class BrowserTokens implements TokenStore {
  readonly #key: string;

  constructor(key = "strongroom.tokens") {
    this.#key = key;
  }

  load(): Tokens | undefined {
    const text = isBrowser() ? localStorage.getItem(this.#key) : null;
    return text === null ? undefined : (JSON.parse(text) as Tokens);
  }

  save(tokens: Tokens | undefined): void {
    if (tokens) localStorage.setItem(this.#key, JSON.stringify(tokens));
    else localStorage.removeItem(this.#key);
  }

  loadDevice(): string | undefined {
    return (isBrowser() && localStorage.getItem(`${this.#key}.device`)) || undefined;
  }

  saveDevice(id: string): void {
    localStorage.setItem(`${this.#key}.device`, id);
  }

  watch(listener: () => void): void {
    if (!isBrowser()) return;
    // Browsers send this event to the other tabs only; without a key if all has been cleared.
    addEventListener("storage", ({ key }) => {
      if (key === this.#key || key === null) listener();
    });
  }

  async lock<T>(action: () => Promise<T>): Promise<T> {
    const locks = navigator.locks as LockManager | undefined;
    return locks ? await locks.request(this.#key, action) : await action();
  }
}

function isBrowser(): boolean {
  return "document" in globalThis;
}
