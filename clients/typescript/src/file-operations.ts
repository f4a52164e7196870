/** What most programs do with tenants, files and folders. */

import type { Api } from "./api.js";
import type { components } from "./openapi.js";
import { iterate } from "./paging.js";
import type { Node, OnConflict } from "./uploads.js";

/** A tenant, whose members keep files together. */
export type Tenant = components["schemas"]["Tenant"];

export interface CopyOptions {
  /** The name of the copy; by default the same. */
  name?: string;
  onConflict?: OnConflict;
}

/** What the files and folders of a search have in common. */
export interface SearchFilters {
  /** Only below this folder. */
  folderId?: string;
  type?: "file" | "folder";
  contentType?: string;
  modifiedAfter?: Date;
  /** In bytes; only files. */
  minSize?: number;
}

const FILE = "/api/v1/tenants/{tenantId}/files/{fileId}";

/** Lists and changes tenants, files and folders. */
export abstract class FileOperations {
  abstract readonly api: Api;

  /** Yield the tenants of the user. */
  tenants(): AsyncGenerator<Tenant, void, undefined> {
    return iterate(this.api, "/api/v1/tenants", {});
  }

  /** Create a tenant, whose administrator is the user. */
  async createTenant(name: string): Promise<Tenant> {
    return (await this.api.POST("/api/v1/tenants", { body: { name } })).data;
  }

  /** Yield the files and folders in a folder, or at the top level, by name. */
  files(tenantId: string, folderId?: string): AsyncGenerator<Node, void, undefined> {
    const path = { tenantId, ownerId: "me" };
    const all = "/api/v1/tenants/{tenantId}/owners/{ownerId}/files";
    if (folderId === undefined) return iterate(this.api, all, { params: { path } });
    const params = { path: { ...path, parentId: folderId } };
    return iterate(this.api, `${all}/{parentId}/files`, { params });
  }

  /** Return a file or folder. */
  async file(tenantId: string, fileId: string): Promise<Node> {
    return (await this.api.GET(FILE, { params: { path: { tenantId, fileId } } })).data;
  }

  /** Create a folder in a folder, or at the top level. */
  async createFolder(tenantId: string, name: string, parentId?: string): Promise<Node> {
    const body = { name };
    if (parentId === undefined) {
      const params = { path: { tenantId } };
      return (await this.api.POST("/api/v1/tenants/{tenantId}/folders", { params, body })).data;
    }
    const params = { path: { tenantId, parentId } };
    return (await this.api.POST("/api/v1/tenants/{tenantId}/files/{parentId}/folders", { params, body })).data;
  }

  /** Rename a file or folder. */
  async rename(tenantId: string, fileId: string, name: string): Promise<Node> {
    return (await this.api.PATCH(FILE, { params: { path: { tenantId, fileId } }, body: { name } })).data;
  }

  /** Move a file or folder into a folder, or with `null` to the top level; rename it if named. */
  async move(tenantId: string, fileId: string, parentId: string | null, name?: string): Promise<Node> {
    const params = { path: { tenantId, fileId } };
    const body = { parentId, ...(name !== undefined && { name }) };
    return (await this.api.PUT(`${FILE}/directory`, { params, body })).data;
  }

  /**
   * Copy a file, or a folder with up to 1,000 files and folders, into a folder or with `null` to the top level.
   *
   * The user owns the copies. No bytes are transferred.
   */
  async copy(
    tenantId: string,
    fileId: string,
    parentId: string | null,
    { name, onConflict }: CopyOptions = {},
  ): Promise<Node> {
    const params = { path: { tenantId, fileId }, query: { ...(onConflict && { onConflict }) } };
    const body = { parentId, ...(name !== undefined && { name }) };
    return (await this.api.POST(`${FILE}/copies`, { params, body })).data;
  }

  /** Yield the files and folders whose name contains a text, at most 1,000. */
  search(tenantId: string, text: string, filters: SearchFilters = {}): AsyncGenerator<Node, void, undefined> {
    const { folderId, modifiedAfter, ...others } = filters;
    const query = {
      query: text,
      ...others,
      ...(folderId !== undefined && { parentId: folderId }),
      ...(modifiedAfter && { modifiedAfter: modifiedAfter.toISOString() }),
    };
    return iterate(this.api, "/api/v1/tenants/{tenantId}/search", { params: { path: { tenantId }, query } });
  }

  /** Move a file or folder to the trash, if the server has one; otherwise delete it. */
  async delete(tenantId: string, fileId: string): Promise<void> {
    await this.api.DELETE(FILE, { params: { path: { tenantId, fileId } } });
  }
}
