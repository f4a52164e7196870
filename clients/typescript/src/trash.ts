/** The trash of a tenant. */

import type { Api } from "./api.js";
import type { components } from "./openapi.js";
import { iterate } from "./paging.js";
import type { Node } from "./uploads.js";

type Schemas = components["schemas"];

/** A deleted file or folder, which is removed permanently at `purgeAt`. */
export type TrashedFile = Schemas["TrashedFile"];

/** Where a file is restored, by default in the folder that it was in; `parentId: null` is the top level. */
export type Restoration = Schemas["Restoration"];

const FILE = "/api/v1/tenants/{tenantId}/trash/{fileId}";

/** Lists, restores and removes deleted files and folders. */
export class Trash {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Yield what the user deleted, newest first; for administrators of the tenant, everything. */
  iterate(tenantId: string): AsyncGenerator<TrashedFile, void, undefined> {
    return iterate(this.#api, "/api/v1/tenants/{tenantId}/trash", { params: { path: { tenantId } } });
  }

  /** Restore a file, or a folder with its content. Throws `NotFoundError` if its folder no longer exists. */
  async restore(tenantId: string, fileId: string, restoration: Restoration = {}): Promise<Node> {
    const params = { path: { tenantId, fileId } };
    return (await this.#api.POST(`${FILE}/restore`, { params, body: restoration })).data;
  }

  /** Remove a file or folder permanently. May need `Client.stepUp`. */
  async delete(tenantId: string, fileId: string): Promise<void> {
    await this.#api.DELETE(FILE, { params: { path: { tenantId, fileId } } });
  }

  /**
   * Remove everything permanently that the user sees in the trash, except held and retained files.
   *
   * May need `Client.stepUp`.
   */
  async empty(tenantId: string): Promise<void> {
    await this.#api.DELETE("/api/v1/tenants/{tenantId}/trash", { params: { path: { tenantId } } });
  }
}
