/** Users as administrators manage them. */

import type { User } from "./accounts.js";
import type { Api } from "./api.js";
import type { components, paths } from "./openapi.js";
import { linesOf } from "./lines.js";
import { iterate } from "./paging.js";
import type { Transport } from "./transport.js";

type Schemas = components["schemas"];

/** A user that an administrator creates: without codes and a captcha. */
export type ManagedUser = Omit<Schemas["NewUser"], "captcha" | "invitation" | "verificationCodes">;

/** The name, the locale, the type or the status of a user. */
export type UserChange = Schemas["UserChange"];

/** Why a user is suspended, and until when; only administrators see the reason. */
export type Suspension = Schemas["Suspension"];

/** What a user logs in by. */
export type ContactKind = "email" | "mobile" | "username";

/** An e-mail address, a mobile number or a username, and whether it counts as proven. */
export type Contact = Schemas["Contact"];

/** A contact that a user has. */
export type BoundCredential = Schemas["BoundCredential"];

/** A password that must be changed at the next login. */
export type TemporaryPassword = Schemas["TemporaryPassword"];

/** An invitation or a reset, sent or not. */
export type NewPasswordLink = Schemas["NewPasswordLink"];

/** A link by which a user sets a password. */
export type PasswordLink = Schemas["PasswordLink"];

/** A JSON object about a user. */
export type Metadata = Record<string, unknown>;

/** What the users of a list have in common. */
export type UserFilters = Omit<
  NonNullable<paths["/users"]["get"]["parameters"]["query"]>,
  "pageNumber" | "pageSize"
>;

/**
 * Creates, lists and changes users, for a client that is an administrator's.
 *
 * An administrator with a second factor needs a recent proof of it: `Client.stepUp`.
 */
export class Users {
  readonly #api: Api;
  readonly #transport: Transport;

  constructor(api: Api, transport: Transport) {
    this.#api = api;
    this.#transport = transport;
  }

  /** Create a user. `details` of the error has what is wrong with each field. */
  async create(user: ManagedUser): Promise<User> {
    return (await this.#api.POST("/users", { body: user })).data;
  }

  /** Return a user. */
  async get(userId: string): Promise<User> {
    return (await this.#api.GET("/users/{userId}", of(userId))).data;
  }

  /** Return the user with an e-mail address, a mobile number such as +8613800138000, or a username. */
  async find(name: string): Promise<User | undefined> {
    const kind = name.includes("@") ? "email" : name.startsWith("+") ? "mobile" : "username";
    return (await this.iterate({ [kind]: name }).next()).value ?? undefined;
  }

  /** Yield the users that match all filters, page by page. */
  iterate(filters: UserFilters = {}): AsyncGenerator<User, void, undefined> {
    return iterate(this.#api, "/users", { params: { query: filters } });
  }

  /**
   * Yield all users as JSON objects that an import accepts, without secrets.
   *
   * Administrators and service accounts are not among them. The audit log records the export.
   */
  async *export(): AsyncGenerator<Metadata, void, undefined> {
    const response = await this.#transport.send("/user-exports");
    for await (const line of linesOf(response)) yield JSON.parse(line) as Metadata;
  }

  /** Change the name, the locale, the type or the status of a user. */
  async change(userId: string, change: UserChange): Promise<User> {
    return (await this.#api.PATCH("/users/{userId}", { ...of(userId), body: change })).data;
  }

  /** End all logins, access keys and links of a user, and refuse further logins, with an end or without. */
  async suspend(userId: string, suspension: Suspension = {}): Promise<User> {
    return (await this.#api.POST("/users/{userId}/suspension", { ...of(userId), body: suspension })).data;
  }

  /** Let a suspended user log in again. */
  async reinstate(userId: string): Promise<User> {
    return (await this.#api.DELETE("/users/{userId}/suspension", of(userId))).data;
  }

  /** End all logins of a user, who may log in again. */
  async endLogins(userId: string): Promise<void> {
    await this.#api.DELETE("/users/{userId}/authorizations", of(userId));
  }

  /** Replace the e-mail address, the mobile number or the username of a user. */
  async setContact(userId: string, kind: ContactKind, contact: Contact): Promise<BoundCredential> {
    return (await this.#api.PUT("/users/{userId}/contacts/{kind}", { ...ofKind(userId, kind), body: contact })).data;
  }

  /** Remove the e-mail address, the mobile number or the username of a user, even the last one. */
  async removeContact(userId: string, kind: ContactKind): Promise<void> {
    await this.#api.DELETE("/users/{userId}/contacts/{kind}", ofKind(userId, kind));
  }

  /** Replace the password of a user by a temporary one; the login with it needs `newPassword`. */
  async giveTemporaryPassword(userId: string): Promise<TemporaryPassword> {
    return (await this.#api.POST("/users/{userId}/temporary-password", of(userId))).data;
  }

  /** Send a link by which a user sets a password, once. With `send: false`, the result has its `url`. */
  async createLink(userId: string, link: NewPasswordLink): Promise<PasswordLink> {
    return (await this.#api.POST("/users/{userId}/links", { ...of(userId), body: link })).data;
  }

  /** Return the JSON object that the user may write; never authorise anything by it. */
  async metadata(userId: string): Promise<Metadata> {
    return (await this.#api.GET("/users/{userId}/metadata", of(userId))).data;
  }

  /** Merge members into that object (RFC 7396), and return it; `null` removes a member. */
  async changeMetadata(userId: string, changes: Metadata): Promise<Metadata> {
    return (await this.#api.PATCH("/users/{userId}/metadata", { ...of(userId), body: changes })).data;
  }

  /** Return the JSON object about a user that only administrators read and write. */
  async serverMetadata(userId: string): Promise<Metadata> {
    return (await this.#api.GET("/users/{userId}/server-metadata", of(userId))).data;
  }

  /** Merge members into that object (RFC 7396), and return it; `null` removes a member. */
  async changeServerMetadata(userId: string, changes: Metadata): Promise<Metadata> {
    return (await this.#api.PATCH("/users/{userId}/server-metadata", { ...of(userId), body: changes })).data;
  }

  /** Delete a user. Files stay with their tenants; personal data are erased later. */
  async delete(userId: string): Promise<void> {
    await this.#api.DELETE("/users/{userId}", of(userId));
  }
}

/** Return the parameters of an operation on a user. */
function of(userId: string): { params: { path: { userId: string } } } {
  return { params: { path: { userId } } };
}

function ofKind(userId: string, kind: ContactKind): { params: { path: { userId: string; kind: ContactKind } } } {
  return { params: { path: { userId, kind } } };
}
