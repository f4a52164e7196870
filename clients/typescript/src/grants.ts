/** Permissions of members and groups on files and folders. */

import type { Api } from "./api.js";
import type { components } from "./openapi.js";
import { iterate } from "./paging.js";

type Schemas = components["schemas"];

/** A member's permission on a file or folder. */
export type Grant = Schemas["Grant"];

/** A grant to a member of the tenant. */
export type NewGrant = Schemas["NewGrant"];

/** A group's permission on a file or folder. */
export type GroupGrant = Schemas["GroupGrant"];

/** A grant to a group of the tenant. */
export type NewGroupGrant = Schemas["NewGroupGrant"];

/** A user's permission on a file or folder, and the role and grants that it comes from. */
export type Access = Schemas["Access"];

const FILE = "/api/v1/tenants/{tenantId}/files/{fileId}";

/** Lists, sets and revokes grants. One on a folder applies to everything below it. */
export class Grants {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Yield the members' grants on a file or folder itself, without its parent folders'. */
  iterate(tenantId: string, fileId: string): AsyncGenerator<Grant, void, undefined> {
    return iterate(this.#api, `${FILE}/owners`, { params: { path: { tenantId, fileId } } });
  }

  /** Grant a permission to a member of the tenant, in place of the member's former grant. */
  async set(tenantId: string, fileId: string, grant: NewGrant): Promise<Grant> {
    return (await this.#api.POST(`${FILE}/owners`, { params: { path: { tenantId, fileId } }, body: grant })).data;
  }

  /** Revoke a member's grant, if there is one. */
  async revoke(tenantId: string, fileId: string, userId: string): Promise<void> {
    await this.#api.DELETE(`${FILE}/owners/{ownerId}`, { params: { path: { tenantId, fileId, ownerId: userId } } });
  }

  /** Yield the groups' grants on a file or folder itself, without its parent folders'. */
  iterateGroups(tenantId: string, fileId: string): AsyncGenerator<GroupGrant, void, undefined> {
    return iterate(this.#api, `${FILE}/group-grants`, { params: { path: { tenantId, fileId } } });
  }

  /** Grant a permission to a group of the tenant, in place of the group's former grant. */
  async setGroup(tenantId: string, fileId: string, grant: NewGroupGrant): Promise<GroupGrant> {
    const params = { path: { tenantId, fileId } };
    return (await this.#api.POST(`${FILE}/group-grants`, { params, body: grant })).data;
  }

  /** Revoke a group's grant, if there is one. */
  async revokeGroup(tenantId: string, fileId: string, groupId: string): Promise<void> {
    const params = { path: { tenantId, fileId, groupId } };
    await this.#api.DELETE(`${FILE}/group-grants/{groupId}`, { params });
  }

  /**
   * Return a user's permission, by default the caller's, and the role and grants that it comes from.
   *
   * The caller manages the file.
   */
  async explain(tenantId: string, fileId: string, userId?: string): Promise<Access> {
    const query = userId === undefined ? {} : { userId };
    return (await this.#api.GET(`${FILE}/access`, { params: { path: { tenantId, fileId }, query } })).data;
  }
}
