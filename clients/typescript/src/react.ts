"use client";

/** Hooks of React 18 or newer: the client of an application, and who is logged in. */

import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useMemo,
  useSyncExternalStore,
} from "react";
import type { Client, LoginOptions } from "./client.js";
import type { LoginPageOptions } from "./login-pages.js";
import type { LoggedInUser } from "./tokens.js";

/** Who is logged in. It is not known until the page has read its token store: `loading`, also on a server. */
export type SessionState =
  | { status: "loading"; user: undefined; error: undefined }
  | { status: "authenticated"; user: LoggedInUser; error: undefined }
  /** `error` is the reason why the login page has returned without a login. */
  | { status: "unauthenticated"; user: undefined; error: unknown };

/** Logs in and out. The functions of one client stay the same between renderings. */
export interface SessionActions {
  /** Go to the login page of the server, which returns to `returnUrl`; by default the provider's. */
  login(options?: Partial<LoginPageOptions>): Promise<void>;
  /** Log in by a password or another proof, and return the user. */
  login(options: LoginOptions): Promise<LoggedInUser>;
  /** End the login, in all tabs that share the token store. */
  logout(): Promise<void>;
  /** Return an access token that is valid for 30 seconds at least; nothing without a login. */
  accessToken(): Promise<string | undefined>;
  /** Send a request with the access token to a backend of your own; see `Client.fetch`. */
  fetch: Client["fetch"];
}

export type Session = SessionState & SessionActions;

export interface StrongroomProviderProps {
  /** One client for the whole application, made outside of its components. */
  client: Client;
  /** Where the login page returns to; by default the page that calls `login`, without its query. */
  returnUrl?: string;
  children?: ReactNode;
}

const LOADING: SessionState = { status: "loading", user: undefined, error: undefined };
const Strongroom = createContext<{ client: Client; returnUrl: string | undefined } | undefined>(undefined);

/** Gives a client to the components below it, and takes over the login with which the login page has returned. */
export function StrongroomProvider({ client, returnUrl, children }: StrongroomProviderProps): ReactElement {
  const value = useMemo(() => ({ client, returnUrl }), [client, returnUrl]);
  return createElement(Strongroom.Provider, { value }, children);
}

/** Return the client of the provider. */
export function useStrongroom(): Client {
  return useProvided().client;
}

/** Return who is logged in, and what logs in and out. The component is rendered again when that changes, in any tab. */
export function useSession(): Session {
  const { client, returnUrl } = useProvided();
  const store = storeOf(client);
  const state = useSyncExternalStore(store.subscribe, store.state, onServer);
  const actions = useMemo(() => actionsOf(client, returnUrl), [client, returnUrl]);
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}

function useProvided(): { client: Client; returnUrl: string | undefined } {
  const provided = useContext(Strongroom);
  if (!provided) throw new Error("Render the component inside of a StrongroomProvider.");
  return provided;
}

function onServer(): SessionState {
  return LOADING;
}

function actionsOf(client: Client, returnUrl: string | undefined): SessionActions {
  function login(options?: Partial<LoginPageOptions>): Promise<void>;
  function login(options: LoginOptions): Promise<LoggedInUser>;
  async function login(options: Partial<LoginPageOptions> | LoginOptions = {}): Promise<LoggedInUser | void> {
    if (isProof(options)) return await client.logIn(options);
    await client.openLogin({ returnUrl: options.returnUrl ?? returnUrl ?? location.origin + location.pathname });
  }
  return {
    login,
    logout: () => client.logOut(),
    accessToken: () => client.accessToken(),
    fetch: (input, init) => client.fetch(input, init),
  };
}

function isProof(options: Partial<LoginPageOptions> | LoginOptions): options is LoginOptions {
  return "username" in options || "challenge" in options;
}

/** Who is logged in by a client, for all its components. */
class SessionStore {
  readonly #client: Client;
  readonly #listeners = new Set<() => void>();
  #state: SessionState = LOADING;
  #begun = false;

  constructor(client: Client) {
    this.#client = client;
  }

  readonly state = (): SessionState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#begin();
    return () => void this.#listeners.delete(listener);
  };

  /** Read the login once, however often components are mounted. */
  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#client.onChange((user) => this.#set(user));
    void this.#resume();
  }

  async #resume(): Promise<void> {
    let failure: unknown;
    const fail = (error: unknown): undefined => void (failure ??= error);
    await this.#client.finishLogin().catch(fail);
    const user = await this.#client.user().catch(fail);
    // What was reported meanwhile is newer.
    if (this.#state === LOADING) this.#set(user, failure);
  }

  #set(user: LoggedInUser | undefined, error?: unknown): void {
    this.#state = user
      ? { status: "authenticated", user, error: undefined }
      : { status: "unauthenticated", user: undefined, error };
    for (const listener of this.#listeners) listener();
  }
}

const stores = new WeakMap<Client, SessionStore>();

function storeOf(client: Client): SessionStore {
  const store = stores.get(client) ?? new SessionStore(client);
  stores.set(client, store);
  return store;
}
