/** Service accounts of the server, which provision users and tenants for other systems. */

import type { Api } from "./api.js";
import type { components } from "./openapi.js";
import { iterate } from "./paging.js";

type Schemas = components["schemas"];

/** A user that never logs in, and acts by access keys. */
export type ServiceAccount = Schemas["ServiceAccount"];

/** An access key without its secret. */
export type AccessKey = Schemas["AccessKey"];

/** A new access key; `key` is the secret. */
export type CreatedKey = Schemas["CreatedKey"];

/** The name and the limits of a new access key. */
export type NewKey = Schemas["NewKey"];

/** Creates and lists service accounts and their keys, for a client with an administrator's login. */
export class ServiceAccounts {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Create a service account. */
  async create(name: string): Promise<ServiceAccount> {
    return (await this.#api.POST("/api/v1/service-accounts", { body: { name } })).data;
  }

  /** Yield the service accounts of the server, oldest first. */
  iterate(): AsyncGenerator<ServiceAccount, void, undefined> {
    return iterate(this.#api, "/api/v1/service-accounts", {});
  }

  /** Rename a service account. */
  async rename(accountId: string, name: string): Promise<ServiceAccount> {
    const params = { path: { accountId } };
    return (await this.#api.PATCH("/api/v1/service-accounts/{accountId}", { params, body: { name } })).data;
  }

  /** Delete a service account with its keys. */
  async delete(accountId: string): Promise<void> {
    await this.#api.DELETE("/api/v1/service-accounts/{accountId}", { params: { path: { accountId } } });
  }

  /**
   * Create an access key. Only this result has the secret.
   *
   * Needs a login within the last 10 minutes, or `currentPassword`.
   */
  async createKey(accountId: string, key: NewKey): Promise<CreatedKey> {
    const params = { path: { userId: accountId } };
    return (await this.#api.POST("/users/{userId}/access-keys", { params, body: key })).data;
  }

  /** Yield the access keys of a service account, newest first. */
  keys(accountId: string): AsyncGenerator<AccessKey, void, undefined> {
    return iterate(this.#api, "/users/{userId}/access-keys", { params: { path: { userId: accountId } } });
  }

  /** Revoke an access key, which is refused from the next request on. */
  async revokeKey(accountId: string, keyId: string): Promise<void> {
    const params = { path: { userId: accountId, keyId } };
    await this.#api.DELETE("/users/{userId}/access-keys/{keyId}", { params });
  }
}
