/** Share links, for servers with the plugin `share_links`. */

import type { Api } from "./api.js";
import type { components } from "./openapi.js";
import { iterate } from "./paging.js";

type Schemas = components["schemas"];

/** A link to a file or folder. */
export type Share = Schemas["Share"];

/** What a new link offers, to whom, and until when. */
export type NewShare = Schemas["NewShare"];

/** What changes of a link; the rest stays. */
export type ShareChanges = Schemas["ShareChanges"];

/** A link of another user. */
export type SharedWithMe = Schemas["SharedWithMe"];

const SHARE = "/api/v1/tenants/{tenantId}/shares/{shareId}";

/** Creates, lists and changes links to files and folders. */
export class Shares {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Share a file or folder, which the user manages. Only this result has the `url`. */
  async create(tenantId: string, fileId: string, share: NewShare): Promise<Share> {
    const params = { path: { tenantId, fileId } };
    return (await this.#api.POST("/api/v1/tenants/{tenantId}/files/{fileId}/shares", { params, body: share })).data;
  }

  /** Yield the links of a tenant or of a file, newest first. */
  iterate(tenantId: string, fileId?: string): AsyncGenerator<Share, void, undefined> {
    if (fileId === undefined) {
      return iterate(this.#api, "/api/v1/tenants/{tenantId}/shares", { params: { path: { tenantId } } });
    }
    const params = { path: { tenantId, fileId } };
    return iterate(this.#api, "/api/v1/tenants/{tenantId}/files/{fileId}/shares", { params });
  }

  /** Yield the open links that name the user, or are for members of a tenant. */
  withMe(): AsyncGenerator<SharedWithMe, void, undefined> {
    return iterate(this.#api, "/api/v1/shared-with-me", {});
  }

  /** Return a link. */
  async get(tenantId: string, shareId: string): Promise<Share> {
    return (await this.#api.GET(SHARE, { params: { path: { tenantId, shareId } } })).data;
  }

  /** Change a link. A new password ends all proofs of the former one. */
  async change(tenantId: string, shareId: string, changes: ShareChanges): Promise<Share> {
    return (await this.#api.PATCH(SHARE, { params: { path: { tenantId, shareId } }, body: changes })).data;
  }

  /** Delete a link with its records. Dropped files remain. */
  async delete(tenantId: string, shareId: string): Promise<void> {
    await this.#api.DELETE(SHARE, { params: { path: { tenantId, shareId } } });
  }
}
