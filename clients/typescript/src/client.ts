/** The client: logs in, calls operations, transfers files. */

import type { MaybeOptionalInit } from "openapi-fetch";
import { Accounts, type Authenticator, type User } from "./accounts.js";
import { type Api, createApi, pathOf, type PathsWith } from "./api.js";
import { type Content, Download, type DownloadOptions, type Target } from "./downloads.js";
import { CaptchaRequired, type Challenge, PasswordChangeRequired, SecondFactorRequired, UnauthorizedError } from "./errors.js";
import { FileOperations } from "./file-operations.js";
import { Grants } from "./grants.js";
import { type BrowserLoginOptions, finishLogin, logInByBrowser, type LoginPageOptions, type LoginRedirect, openLogin } from "./login-pages.js";
import type { components, paths } from "./openapi.js";
import { type CollectionPath, type Item, iterate } from "./paging.js";
import { ServiceAccounts } from "./service-accounts.js";
import { type LoggedInUser, MemoryTokens, type Tokens, type TokenStore, WatchedTokens } from "./tokens.js";
import { Shares } from "./shares.js";
import { Transport } from "./transport.js";
import { Trash } from "./trash.js";
import { type Node, type Source, Upload, type UploadOptions } from "./uploads.js";
import { UserImports } from "./user-imports.js";
import { Users } from "./users.js";
import { Versions } from "./versions.js";

type Schemas = components["schemas"];
type LoginBody = Schemas["Login"];

/** A captcha to solve: an image, or another task of the server's provider. */
export type Captcha = Schemas["IssuedCaptcha"] & Record<string, unknown>;

/** The answer to a challenge: one member, named by a method of the challenge, such as `totp`. */
export type FactorAnswer = Record<string, unknown>;

/** Return the answer for a challenge, or nothing to give up. It is called again after a wrong answer. */
export type SecondFactorHook = (
  challenge: Challenge,
) => FactorAnswer | undefined | Promise<FactorAnswer | undefined>;

/** Return the solution of a captcha. */
export type CaptchaHook = (captcha: Captcha) => string | Promise<string>;

export interface ClientOptions {
  /** The root URL of the server. */
  url: string;
  /** An access key (`srk_...`), instead of a login. */
  key?: string;
  /** Where the tokens of the login are kept; by default in memory. */
  tokens?: TokenStore;
  /** Solves captchas that a login needs. */
  captcha?: CaptchaHook;
  /** Origins of backends of your own, to which `Client.fetch` sends the access token. */
  backends?: readonly string[];
  /** By default the `fetch` of the platform. */
  fetch?: typeof fetch;
  /** Milliseconds before a request is repeated; doubled for each further attempt. */
  retryDelay?: number;
}

/** A login: `username` and `password`, or another proof. */
export interface LoginOptions extends LoginBody {
  secondFactor?: SecondFactorHook;
  /** Replaces a password that must be changed, such as a temporary one; others stay. */
  newPassword?: string | null;
}

export interface StepUpOptions {
  /** The proof of users without a second factor. */
  currentPassword?: string;
  secondFactor?: SecondFactorHook;
}

/** Why a user is impersonated, and for how many minutes, at most 60. */
export type ImpersonationOptions = Schemas["NewImpersonation"];

/** A client of one server, as one user. */
export class Client extends FileOperations {
  /** All operations, typed by the OpenAPI document. They throw `ApiError`. */
  readonly api: Api;
  /** Registration, codes, passwords and passkeys. */
  readonly accounts: Accounts;
  /** Users as administrators manage them. */
  readonly users: Users;
  /** Imports of users of another system. */
  readonly userImports: UserImports;
  /** Service accounts of the server. */
  readonly serviceAccounts: ServiceAccounts;
  /** Deleted files and folders. */
  readonly trash: Trash;
  /** Earlier contents of files. */
  readonly versions: Versions;
  /** Permissions on files and folders. */
  readonly grants: Grants;
  /** Share links. */
  readonly shares: Shares;
  readonly #options: ClientOptions;
  readonly #transport: Transport;
  readonly #tokens: WatchedTokens;
  readonly #captcha: CaptchaHook | undefined;
  readonly #backends: ReadonlySet<string>;

  constructor(options: ClientOptions) {
    super();
    this.#options = options;
    this.#backends = new Set([options.url, ...(options.backends ?? [])].map((url) => new URL(url).origin));
    this.#captcha = options.captcha;
    this.#tokens = new WatchedTokens(options.tokens ?? new MemoryTokens());
    this.#transport = new Transport({
      url: options.url,
      key: options.key,
      tokens: this.#tokens,
      fetch: options.fetch ?? globalThis.fetch,
      retryDelay: options.retryDelay ?? 500,
    });
    this.api = createApi(this.#transport);
    this.accounts = new Accounts(this.api, () => this.#solved());
    this.users = new Users(this.api, this.#transport);
    this.userImports = new UserImports(this.api, this.#transport);
    this.serviceAccounts = new ServiceAccounts(this.api);
    this.trash = new Trash(this.api);
    this.versions = new Versions(this.api, this.#transport);
    this.grants = new Grants(this.api);
    this.shares = new Shares(this.api);
  }

  /** Return the user of the login, without a request; nothing without a login. */
  async user(): Promise<LoggedInUser | undefined> {
    return (await this.#tokens.load())?.user;
  }

  /** Return the user who is logged in, as the server has them. */
  async me(): Promise<User> {
    return (await this.api.GET("/users/{userId}", { params: { path: { userId: "me" } } })).data;
  }

  /** Call a function whenever a user has logged in or out, also in another tab; return what ends that. */
  onChange(listener: (user: LoggedInUser | undefined) => void): () => void {
    return this.#tokens.onChange(listener);
  }

  /** Log in by a passkey of this device. */
  async logInByPasskey(authenticator?: Authenticator): Promise<LoggedInUser> {
    return await this.logIn({ challenge: await this.accounts.passkeyProof(authenticator) });
  }

  /** Go to the login page of the server; {@link finishLogin} continues when it has returned. */
  openLogin(options: LoginPageOptions): Promise<void> {
    return openLogin(this.#transport.url, options);
  }

  /**
   * Take over the login with which the login page has returned to this page, and return its user, as
   * {@link user} does; nothing without one.
   */
  async finishLogin(): Promise<LoggedInUser | undefined> {
    const tokens = await finishLogin(this.api);
    return tokens && (await this.#keep(tokens));
  }

  /** Log in on the login page of the server, in the browser of the user; see `LoopbackRedirect`. */
  async logInByBrowser(redirect: LoginRedirect, options: BrowserLoginOptions = {}): Promise<LoggedInUser> {
    return await this.#keep(await logInByBrowser(this.#transport, this.api, redirect, options));
  }

  /** Return an access token that is valid for 30 seconds at least, or the access key; nothing without a login. */
  accessToken(): Promise<string | undefined> {
    return this.#transport.accessToken();
  }

  /**
   * Send a request with the access token to a backend of your own, which is one of `backends`, and return
   * the response, whatever its status is. After 401 the token is refreshed, and the request is sent again.
   *
   * Throws a `TypeError` for any other origin, because the receiver of the token can act as the user.
   */
  async fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(input, globalThis.location?.href);
    if (!this.#backends.has(url.origin) && url.origin !== globalThis.location?.origin) {
      throw new TypeError(`${url.origin} is not one of the backends of this client.`);
    }
    return await this.#transport.fetch(url, init);
  }

  /**
   * Log in, keep the tokens, and return the user, as {@link user} does.
   *
   * Throws `SecondFactorRequired` without the hook that answers it.
   */
  async logIn({ newPassword, ...options }: LoginOptions): Promise<LoggedInUser> {
    try {
      return await this.#logIn(options);
    } catch (error) {
      if (!(error instanceof PasswordChangeRequired) || !newPassword) throw error;
      return await this.#logIn({ ...options, newPassword });
    }
  }

  async #logIn({ secondFactor, ...body }: LoginOptions): Promise<LoggedInUser> {
    const logIn = (next: LoginBody): Promise<Tokens> => this.#post("/authorizations", next);
    try {
      return await this.#keep(await this.#solving(logIn, body));
    } catch (error) {
      if (!(error instanceof SecondFactorRequired) || !secondFactor) throw error;
      return await this.#keep(await answering(error, secondFactor, logIn));
    }
  }

  /**
   * Prove the user again, which some operations demand by `error.step-up-required`.
   *
   * The login has a new access token afterwards.
   */
  async stepUp({ currentPassword, secondFactor }: StepUpOptions): Promise<void> {
    const stepUp = async (body: Schemas["StepUp"]): Promise<void> => {
      const { data } = await this.api.POST("/authorizations/current/step-up", { body });
      const tokens = await this.#transport.tokens.load();
      if (tokens) await this.#keep({ ...tokens, ...data });
    };
    try {
      await stepUp(currentPassword === undefined ? {} : { currentPassword });
    } catch (error) {
      if (!(error instanceof SecondFactorRequired) || !secondFactor) throw error;
      await answering(error, secondFactor, stepUp);
    }
  }

  /** Begin to act as a user, for an administrator; the user sees it in the list of logins. */
  async impersonate(userId: string, options: ImpersonationOptions): Promise<ImpersonatedClient> {
    const init = { params: { path: { userId } }, body: options };
    const { data } = await this.api.POST("/users/{userId}/impersonation", init);
    const { url, fetch, retryDelay } = this.#options;
    return new ImpersonatedClient(data, { url, ...(fetch && { fetch }), ...(retryDelay !== undefined && { retryDelay }) });
  }

  /** Exchange the refresh token now. Requests do so on their own when the access token has expired. */
  refresh(): Promise<Tokens> {
    return this.#transport.refresh();
  }

  /** End the login on the server, and forget its tokens. */
  async logOut(): Promise<void> {
    try {
      await this.api.DELETE("/authorizations/{accessToken}", { params: { path: { accessToken: "current" } } });
    } finally {
      await this.#transport.tokens.save(undefined);
    }
  }

  /** Yield the records of a collection, page by page. */
  iterate<P extends CollectionPath>(
    path: P,
    ...[init]: undefined extends MaybeOptionalInit<paths[P], "get">
      ? [init?: MaybeOptionalInit<paths[P], "get">]
      : [init: MaybeOptionalInit<paths[P], "get">]
  ): AsyncGenerator<Item<P>, void, undefined> {
    return iterate(this.api, path, init as MaybeOptionalInit<paths[P], "get">);
  }

  /** Upload content of any size, and return the new file. Broken connections are resumed. */
  upload(tenantId: string, source: Blob | Source, options: UploadOptions = {}): Promise<Node> {
    return new Upload(this.#transport, tenantId, source, options).run();
  }

  /** Download a file into a target, after what it already holds; return the file's node. */
  async download(
    tenantId: string,
    fileId: string,
    target: Target,
    options: DownloadOptions = {},
  ): Promise<Node> {
    const node = await this.file(tenantId, fileId);
    await new Download(this.#transport, contentOf(node), options).to(target);
    return node;
  }

  /**
   * Return the content of a file as a stream. Broken connections are resumed; the stream fails with
   * `ChecksumMismatch` at its end if the content is wrong.
   */
  async stream(
    tenantId: string,
    fileId: string,
    options: DownloadOptions = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const node = await this.file(tenantId, fileId);
    return new Download(this.#transport, contentOf(node), options).stream();
  }

  /** Log in; if the server demands a captcha, solve one and log in again. */
  async #solving(logIn: (body: LoginBody) => Promise<Tokens>, body: LoginBody): Promise<Tokens> {
    try {
      return await logIn(body);
    } catch (error) {
      if (!(error instanceof CaptchaRequired) || !this.#captcha) throw error;
      return await logIn({ ...body, captcha: (await this.#solved())! });
    }
  }

  /** Return the solution of a new captcha, or nothing without a hook. */
  async #solved(): Promise<Schemas["CaptchaAnswer"] | undefined> {
    if (!this.#captcha) return undefined;
    const captcha = await this.#post<Captcha>("/captchas", {});
    return { id: captcha.id, answer: await this.#captcha(captcha) };
  }

  /** Send a request without a token, because a token that has expired would be refused. */
  async #post<T>(path: PathsWith<"post">, body: object): Promise<T> {
    const headers = { "Content-Type": "application/json" };
    const call = { method: "POST", headers, body: JSON.stringify(body) };
    return (await (await this.#transport.sendWith(undefined, path, call)).json()) as T;
  }

  async #keep(tokens: Tokens): Promise<LoggedInUser> {
    await this.#transport.tokens.save(tokens);
    return tokens.user;
  }
}

/**
 * A client that reads as another user, and changes nothing: `Client.impersonate`.
 *
 * It is never refreshed: after `expiresAt`, or when the user or the administrator has ended it, its
 * requests fail with `error.token-invalid`.
 */
export class ImpersonatedClient extends Client {
  readonly expiresAt: string;
  readonly #user: LoggedInUser;

  constructor({ accessToken, expiresAt, user }: Schemas["Impersonation"], options: ClientOptions) {
    super({ ...options, key: accessToken });
    this.expiresAt = expiresAt;
    this.#user = user;
  }

  /** Return the user who is impersonated, without a request. */
  override async user(): Promise<LoggedInUser> {
    return this.#user;
  }

  /** End the impersonation on the server, unless it has ended already. */
  async end(): Promise<void> {
    try {
      await this.logOut();
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
    }
  }
}

function contentOf({ tenantId, id, size, checksum }: Node): Content {
  const path = pathOf("/api/v1/tenants/{tenantId}/files/{fileId}/download", { tenantId, fileId: id });
  return { path, size, checksum };
}

/** Answer a challenge, again after each wrong answer, until the hook or the server gives up. */
async function answering<T>(
  required: SecondFactorRequired,
  hook: SecondFactorHook,
  send: (body: { challenge: { id: string } & FactorAnswer }) => Promise<T>,
): Promise<T> {
  const { challenge } = required;
  for (let last: unknown = required; ; ) {
    const answer = await hook(challenge);
    if (answer === undefined) throw last;
    try {
      return await send({ challenge: { ...answer, id: challenge.id } });
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || error.code !== "error.invalid-credentials") throw error;
      last = error;
    }
  }
}
