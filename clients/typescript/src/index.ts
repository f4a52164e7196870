/** Client of Strongroom, for browsers and Node.js. */

export { Accounts } from "./accounts.js";
export type { Authenticator, NewUser, Passkey, PasskeyProof, Purpose, User } from "./accounts.js";
export type { Api, ApiMethod, Result } from "./api.js";
export * from "./client.js";
export type { DownloadOptions, Target } from "./downloads.js";
export * from "./errors.js";
export type { CopyOptions, SearchFilters, Tenant } from "./file-operations.js";
export { Grants } from "./grants.js";
export type { Access, Grant, GroupGrant, NewGrant, NewGroupGrant } from "./grants.js";
export type { BrowserLoginOptions, LoginPageOptions, LoginRedirect } from "./login-pages.js";
export type { components, operations, paths } from "./openapi.js";
export type { CollectionPath, Item } from "./paging.js";
export { ServiceAccounts } from "./service-accounts.js";
export type { AccessKey, CreatedKey, NewKey, ServiceAccount } from "./service-accounts.js";
export { Shares } from "./shares.js";
export type { NewShare, Share, ShareChanges, SharedWithMe } from "./shares.js";
export * from "./tokens.js";
export { Trash } from "./trash.js";
export type { Restoration, TrashedFile } from "./trash.js";
export { BrowserUploads, MemoryUploads } from "./uploads.js";
export type { Node, OnConflict, Progress, Source, UploadOptions, UploadState } from "./uploads.js";
export { UserImports } from "./user-imports.js";
export type { LineError, UserImport, UserImportOptions, UserLines, WaitOptions } from "./user-imports.js";
export { Users } from "./users.js";
export type {
  BoundCredential,
  Contact,
  ContactKind,
  ManagedUser,
  Metadata,
  NewPasswordLink,
  PasswordLink,
  Suspension,
  TemporaryPassword,
  UserChange,
  UserFilters,
} from "./users.js";
export { Versions } from "./versions.js";
export type { Version, VersionChanges } from "./versions.js";
