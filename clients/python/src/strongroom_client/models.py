"""The JSON objects of the API. Written by clients/python/generate_client.py from the OpenAPI document."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from .operations import UNSET, Unset

if TYPE_CHECKING:
    AccessKeyScopesItem: TypeAlias = Literal[
        "audit:read",
        "files:read",
        "files:share",
        "files:write",
        "tenants:read",
        "tenants:write",
        "users:impersonate",
        "users:read",
        "users:write",
    ]
    AccessPermission: TypeAlias = Literal["manage", "none", "read", "write"]
    AccessReasonPermission: TypeAlias = Literal["manage", "read", "write"]
    AccessRoleType0: TypeAlias = Literal["admin", "member", "records"]
    AssuranceAcrType0: TypeAlias = Literal["phr", "phrh", "urn:strongroom:mfa"]
    AuditEventOutcome: TypeAlias = Literal["failure", "success"]
    BatchItemOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    BatchItemOperation: TypeAlias = Literal["copy", "grant", "move", "restore", "revoke", "trash"]
    BatchItemPermission: TypeAlias = Literal["manage", "read", "write"]
    BeginDirectUploadOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    ClaimRuleForm: TypeAlias = Literal["ids", "names"]
    ClaimRuleSource: TypeAlias = Literal["groups", "server-data", "server-role", "tenant-roles"]
    ClaimRuleTokensItem: TypeAlias = Literal["access_token", "id_token"]
    CodeRequestPurpose: TypeAlias = Literal["bind", "login", "register", "reset-password", "unbind"]
    CopyFileOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    CreatedKeyScopesItem: TypeAlias = Literal[
        "audit:read",
        "files:read",
        "files:share",
        "files:write",
        "tenants:read",
        "tenants:write",
        "users:impersonate",
        "users:read",
        "users:write",
    ]
    CreateFolderInFolderOnConflict: TypeAlias = Literal["fail", "rename"]
    CreateFolderOnConflict: TypeAlias = Literal["fail", "rename"]
    CreateUserImportOnConflict: TypeAlias = Literal["fail", "skip", "update"]
    DescriptionKind: TypeAlias = Literal["drop", "preview", "read", "write"]
    DescriptionType: TypeAlias = Literal["file", "folder"]
    DropLayout: TypeAlias = Literal["by-visitor", "flat"]
    EndpointChangesStatus: TypeAlias = Literal["disabled", "enabled"]
    FileEventAction: TypeAlias = Literal[
        "file.created",
        "file.deleted",
        "file.downloaded",
        "file.moved",
        "file.purged",
        "file.renamed",
        "file.replaced",
        "file.restored",
        "file.version_changed",
        "file.version_purged",
        "folder.created",
    ]
    GetFileIncludeType0: TypeAlias = Literal[
        "holds", "holds,locks", "locks", "path", "path,holds", "path,holds,locks", "path,locks"
    ]
    GrantPermission: TypeAlias = Literal["manage", "read", "write"]
    GroupGrantPermission: TypeAlias = Literal["manage", "read", "write"]
    ListAuditEventsOutcome: TypeAlias = Literal["failure", "success"]
    ListFileEventsAction: TypeAlias = Literal[
        "file.created",
        "file.deleted",
        "file.downloaded",
        "file.moved",
        "file.purged",
        "file.renamed",
        "file.replaced",
        "file.restored",
        "file.version_changed",
        "file.version_purged",
        "folder.created",
    ]
    ListFilesIncludeType0: TypeAlias = Literal[
        "holds", "holds,locks", "locks", "path", "path,holds", "path,holds,locks", "path,locks"
    ]
    ListFilesInFolderIncludeType0: TypeAlias = Literal[
        "holds", "holds,locks", "locks", "path", "path,holds", "path,holds,locks", "path,locks"
    ]
    ListFilesInFolderSort: TypeAlias = Literal[
        "-name", "-size", "-type", "-updatedAt", "name", "size", "type", "updatedAt"
    ]
    ListFilesInFolderTypeType0: TypeAlias = Literal["file", "folder"]
    ListFilesSort: TypeAlias = Literal[
        "-name", "-size", "-type", "-updatedAt", "name", "size", "type", "updatedAt"
    ]
    ListFilesTypeType0: TypeAlias = Literal["file", "folder"]
    ListShareOpeningsWhatType0: TypeAlias = Literal["download", "drop", "open"]
    ListUsersSort: TypeAlias = Literal[
        "-createdAt", "-lastLoginAt", "-name", "createdAt", "lastLoginAt", "name"
    ]
    ListUsersStatus: TypeAlias = Literal["active", "suspended"]
    ListUsersType: TypeAlias = Literal["ADMIN", "SERVICE", "USER"]
    ListWebhookDeliveriesOutcome: TypeAlias = Literal["failed", "pending", "refused", "succeeded"]
    MoveFileOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    NewGrantPermission: TypeAlias = Literal["manage", "read", "write"]
    NewGroupGrantPermission: TypeAlias = Literal["manage", "read", "write"]
    NewInvitationRole: TypeAlias = Literal["admin", "member", "records"]
    NewKeyScopesItem: TypeAlias = Literal[
        "audit:read",
        "files:read",
        "files:share",
        "files:write",
        "tenants:read",
        "tenants:write",
        "users:impersonate",
        "users:read",
        "users:write",
    ]
    NewPasswordLinkKind: TypeAlias = Literal["invite", "reset"]
    NewRetentionMode: TypeAlias = Literal["compliance", "governance"]
    NewServiceKeyScopesItem: TypeAlias = Literal[
        "audit:read",
        "files:read",
        "files:share",
        "files:write",
        "tenants:read",
        "tenants:write",
        "users:impersonate",
        "users:read",
        "users:write",
    ]
    NewShareAudienceType0: TypeAlias = Literal["anyone", "logged-in", "members"]
    NewShareKind: TypeAlias = Literal["drop", "preview", "read", "write"]
    NodePermission: TypeAlias = Literal["manage", "none", "read", "write"]
    NodeScanType0: TypeAlias = Literal[
        "clean", "infected", "pending", "rejected", "skipped", "unscannable"
    ]
    NodeType: TypeAlias = Literal["file", "folder"]
    PolicyChangesKindsType0Item: TypeAlias = Literal["drop", "preview", "read", "write"]
    PolicyChangesPasswordType0: TypeAlias = Literal["optional", "required"]
    PolicyChangesWhoType0: TypeAlias = Literal["manage", "nobody", "tenant-admins"]
    PreviewSharedFileSize: TypeAlias = Literal["large", "small"]
    QuarantinedFileScan: TypeAlias = Literal["infected", "rejected"]
    RenameFileOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    RestorableContactKind: TypeAlias = Literal["email", "mobile"]
    RestorationOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    RetentionMode: TypeAlias = Literal["compliance", "governance"]
    RoleRole: TypeAlias = Literal["admin", "member", "records"]
    SearchFilesIncludeType0: TypeAlias = Literal[
        "holds", "holds,locks", "locks", "path", "path,holds", "path,holds,locks", "path,locks"
    ]
    SearchFilesSort: TypeAlias = Literal[
        "-name", "-size", "-type", "-updatedAt", "name", "size", "type", "updatedAt"
    ]
    SearchFilesTypeType0: TypeAlias = Literal["file", "folder"]
    ShareAudienceType0: TypeAlias = Literal["anyone", "logged-in", "members"]
    ShareChangesAudienceType0: TypeAlias = Literal["anyone", "logged-in", "members"]
    SharedFileType: TypeAlias = Literal["file", "folder"]
    SharedWithMeKind: TypeAlias = Literal["drop", "preview", "read", "write"]
    ShareKind: TypeAlias = Literal["drop", "preview", "read", "write"]
    StrengthStrength: TypeAlias = Literal["high", "low", "medium"]
    TrashedFileType: TypeAlias = Literal["file", "folder"]
    UploadFileIntoFolderOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    UploadFileOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    UserChangeStatus: TypeAlias = Literal["active", "suspended"]
    UserChangeType: TypeAlias = Literal["ADMIN", "SERVICE", "USER"]
    UserImportState: TypeAlias = Literal[
        "cancelled", "finished", "receiving", "revoked", "running", "waiting"
    ]
    UserStatus: TypeAlias = Literal["active", "suspended"]
    UserType: TypeAlias = Literal["ADMIN", "SERVICE", "USER"]
    VersionScan: TypeAlias = Literal[
        "clean", "infected", "pending", "rejected", "skipped", "unscannable"
    ]
else:
    # Open: a newer server may send values that this version does not know.
    AccessKeyScopesItem = str
    AccessPermission = str
    AccessReasonPermission = str
    AccessRoleType0 = str
    AssuranceAcrType0 = str
    AuditEventOutcome = str
    BatchItemOnConflict = str
    BatchItemOperation = str
    BatchItemPermission = str
    BeginDirectUploadOnConflict = str
    ClaimRuleForm = str
    ClaimRuleSource = str
    ClaimRuleTokensItem = str
    CodeRequestPurpose = str
    CopyFileOnConflict = str
    CreatedKeyScopesItem = str
    CreateFolderInFolderOnConflict = str
    CreateFolderOnConflict = str
    CreateUserImportOnConflict = str
    DescriptionKind = str
    DescriptionType = str
    DropLayout = str
    EndpointChangesStatus = str
    FileEventAction = str
    GetFileIncludeType0 = str
    GrantPermission = str
    GroupGrantPermission = str
    ListAuditEventsOutcome = str
    ListFileEventsAction = str
    ListFilesIncludeType0 = str
    ListFilesInFolderIncludeType0 = str
    ListFilesInFolderSort = str
    ListFilesInFolderTypeType0 = str
    ListFilesSort = str
    ListFilesTypeType0 = str
    ListShareOpeningsWhatType0 = str
    ListUsersSort = str
    ListUsersStatus = str
    ListUsersType = str
    ListWebhookDeliveriesOutcome = str
    MoveFileOnConflict = str
    NewGrantPermission = str
    NewGroupGrantPermission = str
    NewInvitationRole = str
    NewKeyScopesItem = str
    NewPasswordLinkKind = str
    NewRetentionMode = str
    NewServiceKeyScopesItem = str
    NewShareAudienceType0 = str
    NewShareKind = str
    NodePermission = str
    NodeScanType0 = str
    NodeType = str
    PolicyChangesKindsType0Item = str
    PolicyChangesPasswordType0 = str
    PolicyChangesWhoType0 = str
    PreviewSharedFileSize = str
    QuarantinedFileScan = str
    RenameFileOnConflict = str
    RestorableContactKind = str
    RestorationOnConflict = str
    RetentionMode = str
    RoleRole = str
    SearchFilesIncludeType0 = str
    SearchFilesSort = str
    SearchFilesTypeType0 = str
    ShareAudienceType0 = str
    ShareChangesAudienceType0 = str
    SharedFileType = str
    SharedWithMeKind = str
    ShareKind = str
    StrengthStrength = str
    TrashedFileType = str
    UploadFileIntoFolderOnConflict = str
    UploadFileOnConflict = str
    UserChangeStatus = str
    UserChangeType = str
    UserImportState = str
    UserStatus = str
    UserType = str
    VersionScan = str


class AcceptedInvitation(msgspec.Struct, frozen=True, kw_only=True):
    """The membership that an invitation became."""

    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant that the caller has joined"""
    role: str
    """The caller's role in it, which may be higher than the invitation's"""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """A user's permission on a file or folder, and its sources: the role in the tenant and grants."""

    user_id: str = msgspec.field(name="userId")
    """The user of the report"""
    role: AccessRoleType0 | None
    """Role in the tenant; null for a non-member"""
    permission: AccessPermission
    """The highest permission of the role and the grants in force; `none`: no access"""
    grants: list[AccessReason]
    """The nearest first"""


class AccessKey(msgspec.Struct, frozen=True, kw_only=True):
    """An access key, without its secret."""

    id: str
    """Names the key in URLs; it is not secret"""
    name: str
    """What the owner sees in the list of keys"""
    scopes: list[AccessKeyScopesItem]
    """What the key may do, within the rights of its user"""
    tenant_id: None | str = msgspec.field(name="tenantId")
    """The only tenant that the key reaches; `null`: all tenants of its user"""
    file_id: None | str = msgspec.field(name="fileId")
    """The only folder, with its subtree, that the key reaches; `null`: no such limit"""
    addresses: list[str]
    """The networks that may use the key; empty: all"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When requests with the key are refused"""
    last_used_at: datetime.datetime | None = msgspec.field(name="lastUsedAt")
    """To within an hour"""
    last_used_from: None | str = msgspec.field(name="lastUsedFrom")
    """The client's address"""


class AccessKeyCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[AccessKey]
    """The records of the page"""
    included: AccessKeyCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class AccessReason(msgspec.Struct, frozen=True, kw_only=True):
    """A grant on the file or folder, or on one of its parent folders, to the user or to a group."""

    file_id: str = msgspec.field(name="fileId")
    """Id of the file or folder that the grant is on"""
    file_name: None | str = msgspec.field(name="fileName")
    """Null if the caller cannot see it"""
    permission: AccessReasonPermission
    """`read`, `write` or `manage`; each includes those before it"""
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    """When the grant ends; null: never"""
    in_force: bool = msgspec.field(name="inForce")
    """Whether the grant has not expired"""
    group_id: None | str = msgspec.field(name="groupId")
    """Null for the user's own grant"""
    group_name: None | str = msgspec.field(name="groupName")
    """Name of the group; null for the user's own grant"""


class Alive(msgspec.Struct, frozen=True, kw_only=True):
    """The process is alive."""

    status: str
    """Always `alive`"""


class Assurance(msgspec.Struct, frozen=True, kw_only=True):
    """What a tenant demands of the logins that read or change anything in it."""

    acr: AssuranceAcrType0 | None | Unset = UNSET
    """The least acr; null: any. Each value includes those before it"""
    max_age_seconds: int | None | Unset = msgspec.field(default=UNSET, name="maxAgeSeconds")
    """The longest time since the last proof of the login; null: any"""


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An audit record."""

    id: str
    """The sequence number, counted from 1"""
    at: datetime.datetime
    """When it happened, in UTC"""
    action: str
    """What was done, such as `user.create`"""
    outcome: AuditEventOutcome
    """Whether it succeeded; `failure` includes refusals"""
    actor: None | Reference
    """Null if the actor is unknown"""
    target: None | Target
    """What it was done to; `null`: nothing in particular"""
    address: None | str
    """The IP address of the client; `null`: not caused by a request"""
    user_agent: None | str = msgspec.field(name="userAgent")
    """The `User-Agent` header of the request, if there was one"""
    request_id: None | str = msgspec.field(name="requestId")
    """`X-Request-Id` of the request, which is in the server's log, too"""
    details: AuditEventDetails
    """What the action was about, as texts by name; it depends on the action"""


class AuditEventCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[AuditEvent]
    """The records of the page"""
    included: AuditEventCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Authorization(msgspec.Struct, frozen=True, kw_only=True):
    """A login of a user, or the access of a client that the user lets act."""

    id: str
    """Stands for a token in `DELETE /authorizations/{accessToken}`"""
    method: str
    """The login method"""
    amr: list[str]
    """The proofs of the login (RFC 8176), such as `pwd`"""
    acr: str
    """How strongly the login is proven"""
    proven_at: datetime.datetime = msgspec.field(name="provenAt")
    """Time of the last proof"""
    device: None | str
    """X-Device-Id"""
    address: str
    """The IP address that the login came from"""
    user_agent: str = msgspec.field(name="userAgent")
    """The `User-Agent` header of the login"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    last_seen_at: datetime.datetime = msgspec.field(name="lastSeenAt")
    """To within a minute"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """If not renewed"""
    actor: None | Reference
    """The administrator who impersonates the user"""
    client_id: None | str = msgspec.field(name="clientId")
    """The client that the user lets act; null: a login"""
    client_name: None | str = msgspec.field(name="clientName")
    """What the user knows the client by"""
    current: bool
    """Whether this request uses it"""


class AuthorizationCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Authorization]
    """The records of the page"""
    included: AuthorizationCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Availability(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a credential can be used for registration."""

    available: bool
    """Whether it is valid, and no user has it"""


class BatchError(msgspec.Struct, frozen=True, kw_only=True):
    """The error of an item."""

    code: str
    """Stable and machine-readable"""
    message: str
    """For developers; may change"""
    details: list[Detail]
    """The faults of single members, if there are any"""


class BatchItem(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a file or folder, with the members of the request that makes this change alone."""

    operation: BatchItemOperation
    """What is done; it decides which other members are required or allowed"""
    file_id: str = msgspec.field(name="fileId")
    """The file or folder to change"""
    parent_id: None | str | Unset = msgspec.field(default=UNSET, name="parentId")
    """Of move, copy and restore: the folder; null is the top level"""
    name: None | str | Unset = UNSET
    """Of move and copy: the new name"""
    on_conflict: BatchItemOnConflict | Unset = msgspec.field(default=UNSET, name="onConflict")
    """Of move, copy and restore: the rule for a taken name; `fail`"""
    revision: int | None | Unset = UNSET
    """Of move and trash: the expected revision"""
    owner_id: str | Unset = msgspec.field(default=UNSET, name="ownerId")
    """Of grant and revoke: the user"""
    group_id: str | Unset = msgspec.field(default=UNSET, name="groupId")
    """Of grant and revoke: the group, instead of a user"""
    permission: BatchItemPermission | Unset = UNSET
    """Of grant: `read`, `write` or `manage`"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """Of grant; null for a permanent grant"""


class BatchResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an item."""

    file_id: str = msgspec.field(name="fileId")
    """As in the item"""
    status: int
    """The HTTP status of the same change alone"""
    file: Node | None
    """The moved, new or restored file or folder"""
    error: BatchError | None
    """Why the item failed; null if it succeeded"""


class BatchResults(msgspec.Struct, frozen=True, kw_only=True):
    """The results of the items, in their order."""

    results: list[BatchResult]
    """One for each item, in the order of the request"""


class BoundCredential(msgspec.Struct, frozen=True, kw_only=True):
    """A credential of a user."""

    kind: str
    """`email`, `mobile` or `username`, or the platform that the user logs in with"""
    value: str
    """The address, number or username; of a platform, the account there"""
    verified: bool
    """Whether a proof, or an administrator, has verified it"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""


class BoundCredentialCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[BoundCredential]
    """The records of the page"""
    included: BoundCredentialCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """Files and folders to download as one archive."""

    file_ids: list[str] = msgspec.field(name="fileIds")
    """Files, and folders with their content"""
    name: None | str | Unset = UNSET
    """File name of the archive; `.zip` is appended if missing"""


class BusinessFile(msgspec.Struct, frozen=True, kw_only=True):
    """An uploaded business file."""

    file_name: str = msgspec.field(name="fileName")
    """Generated by the server"""
    url: str
    """Absolute URL for the download, without a token if the configuration makes the kind public"""
    size: int
    """Stored size in bytes"""
    content_type: str = msgspec.field(name="contentType")
    """Detected from the content"""
    width: int | Unset = UNSET
    """In pixels; only for pictures"""
    height: int | Unset = UNSET
    """In pixels; only for pictures"""


class Captcha(msgspec.Struct, frozen=True, kw_only=True):
    """A solved captcha."""

    id: str
    """Id of the challenge"""
    answer: str
    """What the visitor entered"""


class CaptchaAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The solution of a captcha."""

    id: str
    """`id` of the issued captcha"""
    answer: str
    """What the user has read or heard, or what the captcha's script has returned"""


class CaptchaRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a captcha. It has no members."""

    pass


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a file or folder. `node.unavailable` has only `sequence`, `type` and `fileId`."""

    sequence: int
    """Number of the change in the tenant, without gaps; usable as `cursor`"""
    type_: str = msgspec.field(name="type")
    """What happened, as in the list of events, such as `file.moved`; `node.unavailable` if the caller cannot see the node now"""
    file_id: str = msgspec.field(name="fileId")
    """The file or folder"""
    parent_id: None | str | Unset = msgspec.field(default=UNSET, name="parentId")
    """The folder that it is in after the change; null: the top level"""
    previous_parent_id: None | str | Unset = msgspec.field(default=UNSET, name="previousParentId")
    """Of a move, if the caller can see the folder"""
    name: str | Unset = UNSET
    """Its name after the change"""
    revision: int | Unset = UNSET
    """Its revision after the change"""
    actor: Reference | Unset = UNSET
    """A reference to a related entity, whose summary is in `included` under its id."""
    on_behalf_of: Reference | Unset = msgspec.field(default=UNSET, name="onBehalfOf")
    """A reference to a related entity, whose summary is in `included` under its id."""
    occurred_at: datetime.datetime | Unset = msgspec.field(default=UNSET, name="occurredAt")
    """When it happened, in UTC"""


class ChangeCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of changes, the oldest first."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: ChangeMeta
    """The position of a page of changes."""
    data: list[Change]
    """The changes"""
    included: ChangeCollectionIncluded
    """By id: the names of the users that records refer to"""


class ChangeMeta(msgspec.Struct, frozen=True, kw_only=True):
    """The position of a page of changes."""

    page_size: int = msgspec.field(name="pageSize")
    """The requested number of records"""
    cursor: int
    """The cursor of the next page"""
    has_more: bool = msgspec.field(name="hasMore")
    """Whether further changes exist already"""


class ClaimRule(msgspec.Struct, frozen=True, kw_only=True):
    """A claim about groups or roles."""

    name: str
    """Name of the claim; not one of a protocol, such as `sub`"""
    source: ClaimRuleSource
    """`groups`: groups of tenants, by the scope `groups`; by the scope `roles`, `tenant-roles`: the role in tenants, `server-role`: `ADMIN` or `USER`, `server-data`: a member of the server's data about the user"""
    tenants: list[str] | Unset = UNSET
    """Ids of the only tenants that are read; required for the first two"""
    groups: list[str] | Unset = UNSET
    """Ids of the only groups; empty: all groups of the tenants"""
    field: None | str | Unset = UNSET
    """The member of the server's data: a text, or a list of texts"""
    form: ClaimRuleForm | Unset = UNSET
    """`ids`, which never change, or `names`, of one tenant only; a role is `TENANT_ID:ROLE` or `ROLE`"""
    tokens: list[ClaimRuleTokensItem] | Unset = UNSET
    """The tokens that have the claim: `id_token`, and `access_token` for resources of the client; the endpoint for user information always has it"""


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """An application that logs its users in here, or uses the REST API on their behalf."""

    id: str
    """The `client_id`"""
    name: str
    """What users see of the client, such as on the page of their consent"""
    public: bool
    """Whether it cannot keep a secret, such as an app"""
    trusted: bool
    """Whether users are not asked for their consent; for applications of the operator"""
    redirect_uris: list[str] = msgspec.field(name="redirectUris")
    """Where browsers return to, compared character by character: https URLs, loopback URLs, and of public clients URIs of a scheme such as `com.example.app:/callback`. The port of a loopback URL of a public client is free"""
    scopes: list[str]
    """The scopes that the client may request: of OpenID Connect, of the REST API, or others"""
    resources: list[str]
    """URIs of other services that the client may request tokens for (RFC 8707)"""
    post_logout_redirect_uris: list[str] = msgspec.field(name="postLogoutRedirectUris")
    """Where browsers may go on to after a logout that the client has begun, compared character by character"""
    backchannel_logout_uri: None | str = msgspec.field(name="backchannelLogoutUri")
    """URL that the server reports the end of a login to, by a signed token (OpenID Connect Back-Channel Logout); null: none"""
    service_account_id: None | str = msgspec.field(name="serviceAccountId")
    """Id of the service account that the client acts as, without a user, by the grant `client_credentials`; null: none. The caller manages the account, and the client has a secret"""
    accent: None | str
    """The colour of buttons and links on the pages of logins and consents, as `#rrggbb`; null: the server's. Links are a darker or lighter shade where the contrast would be below 4.5"""
    terms_url: None | str = msgspec.field(name="termsUrl")
    """The terms of service of the client: an https URL"""
    privacy_url: None | str = msgspec.field(name="privacyUrl")
    """The privacy policy of the client: an https URL"""
    logo: None | str
    """The path of its logo, below the public URL; null without one"""
    disabled_at: datetime.datetime | None = msgspec.field(name="disabledAt")
    """Since when it cannot log its users in; null: it can"""
    device_login: bool = msgspec.field(name="deviceLogin")
    """Whether its users may log in on another device, by a code that the client shows (RFC 8628)"""
    self_registered: bool = msgspec.field(name="selfRegistered")
    """Whether it has registered itself, and chosen its name (RFC 7591)"""
    claims: list[ClaimRule]
    """The claims about groups and roles that the client gets, if it requests the scope `groups` or `roles`; by default none"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""


class ClientChanges(msgspec.Struct, frozen=True, kw_only=True):
    """A new state of some members; absent ones stay as they are."""

    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    accent: None | str | Unset = UNSET
    """The colour of buttons and links on the pages of logins and consents, as `#rrggbb`; null: the server's. Links are a darker or lighter shade where the contrast would be below 4.5"""
    terms_url: None | str | Unset = msgspec.field(default=UNSET, name="termsUrl")
    """The terms of service of the client: an https URL"""
    privacy_url: None | str | Unset = msgspec.field(default=UNSET, name="privacyUrl")
    """The privacy policy of the client: an https URL"""
    name: str | Unset = UNSET
    """What users see of the client, such as on the page of their consent"""
    redirect_uris: list[str] | Unset = msgspec.field(default=UNSET, name="redirectUris")
    """Where browsers return to, compared character by character: https URLs, loopback URLs, and of public clients URIs of a scheme such as `com.example.app:/callback`. The port of a loopback URL of a public client is free"""
    trusted: bool | Unset = UNSET
    """Whether users are not asked for their consent; for applications of the operator"""
    scopes: list[str] | Unset = UNSET
    """The scopes that the client may request: of OpenID Connect, of the REST API, or others"""
    resources: list[str] | Unset = UNSET
    """URIs of other services that the client may request tokens for (RFC 8707)"""
    post_logout_redirect_uris: list[str] | Unset = msgspec.field(
        default=UNSET, name="postLogoutRedirectUris"
    )
    """Where browsers may go on to after a logout that the client has begun, compared character by character"""
    backchannel_logout_uri: None | str | Unset = msgspec.field(
        default=UNSET, name="backchannelLogoutUri"
    )
    """URL that the server reports the end of a login to, by a signed token (OpenID Connect Back-Channel Logout); null: none"""
    service_account_id: None | str | Unset = msgspec.field(default=UNSET, name="serviceAccountId")
    """Id of the service account that the client acts as, without a user, by the grant `client_credentials`; null: none. The caller manages the account, and the client has a secret"""
    device_login: bool | Unset = msgspec.field(default=UNSET, name="deviceLogin")
    """Whether its users may log in on another device, by a code that the client shows (RFC 8628)"""
    claims: list[ClaimRule] | Unset = UNSET
    """The claims about groups and roles that the client gets, if it requests the scope `groups` or `roles`; by default none"""


class ClientCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Client]
    """The records of the page"""
    included: ClientCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class ClientLogo(msgspec.Struct, frozen=True, kw_only=True):
    """A picture of a client."""

    picture: str
    """A PNG or SVG of at most 100 KB, in Base64 (RFC 4648, section 4)"""


class ClientSecret(msgspec.Struct, frozen=True, kw_only=True):
    """The new secret of a client."""

    secret: str
    """The `client_secret`, which is shown once"""


class ClientSecretRotation(msgspec.Struct, frozen=True, kw_only=True):
    """How long the former secret remains valid."""

    overlap_seconds: int | Unset = msgspec.field(default=UNSET, name="overlapSeconds")
    """Seconds for which both secrets are valid; 0: the former one ends at once"""


class ClientUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Who uses a client, and by which secrets it authenticates."""

    users: int
    """Users who have consented to it; trusted clients need no consent"""
    last_used_at: datetime.datetime | None = msgspec.field(name="lastUsedAt")
    """When it last used a grant that has not ended; null: it has none"""
    secrets: list[LiveSecret]
    """The secrets that are valid, the newest first"""


class CodeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a verification code."""

    recipient: str
    """An e-mail address or a mobile number, in any spelling"""
    purpose: CodeRequestPurpose
    """The only operation that accepts the code"""
    captcha: CaptchaAnswer | None | Unset = UNSET
    """Needed after `error.captcha-required`"""
    invitation: None | str | Unset = UNSET
    """For `register`, if only invited users can: the invitation's secret"""
    link: bool | Unset = UNSET
    """For a login by e-mail: also send a link, which counts on this device only. Ignored for others, and on servers without login pages"""


class ConfirmedFactor(msgspec.Struct, frozen=True, kw_only=True):
    """An enrolled factor, and what the response contains only this once."""

    factor: Factor
    """An enrolled second factor."""
    shown: ConfirmedFactorShown
    """Such as `recoveryCodes`"""


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """The consent to the terms, with the id of the login that needs it."""

    id: str
    """`id` of `consent` in `error.terms-not-accepted`"""
    accepted_terms: str = msgspec.field(name="acceptedTerms")
    """`version` of the terms that the user has seen and accepted"""


class Consents(msgspec.Struct, frozen=True, kw_only=True):
    """The consents of a user."""

    data: list[OidcProviderConsent]
    """The consents, by the names of the clients"""


class Contact(msgspec.Struct, frozen=True, kw_only=True):
    """A contact or username that an administrator sets."""

    value: str
    """The new address, number or username, in any spelling"""
    verified: bool | Unset = UNSET
    """Whether the contact counts as proven"""


class ContactLink(msgspec.Struct, frozen=True, kw_only=True):
    """The token of a link that takes back a former contact."""

    token: str
    """The last part of the URL in the notice"""


class ContactRestoration(msgspec.Struct, frozen=True, kw_only=True):
    """The token of a link that takes back a former contact, and the new password."""

    token: str
    """The last part of the URL in the notice"""
    new_password: str = msgspec.field(name="newPassword")
    """With an uppercase letter, a lowercase letter and a digit"""


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of a copy, and optionally its name."""

    parent_id: None | str = msgspec.field(name="parentId")
    """The folder; null is the top level"""
    name: None | str | Unset = UNSET
    """The name of the copy; null: the present one"""


class CreatedKey(msgspec.Struct, frozen=True, kw_only=True):
    """An access key with its secret, which no other response contains."""

    id: str
    """Names the key in URLs; it is not secret"""
    name: str
    """What the owner sees in the list of keys"""
    scopes: list[CreatedKeyScopesItem]
    """What the key may do, within the rights of its user"""
    tenant_id: None | str = msgspec.field(name="tenantId")
    """The only tenant that the key reaches; `null`: all tenants of its user"""
    file_id: None | str = msgspec.field(name="fileId")
    """The only folder, with its subtree, that the key reaches; `null`: no such limit"""
    addresses: list[str]
    """The networks that may use the key; empty: all"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When requests with the key are refused"""
    last_used_at: datetime.datetime | None = msgspec.field(name="lastUsedAt")
    """To within an hour"""
    last_used_from: None | str = msgspec.field(name="lastUsedFrom")
    """The client's address"""
    key: str
    """Send it as `Authorization: Bearer`"""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """An event for an endpoint, and its last attempt."""

    id: str
    """Identifies the delivery in paths"""
    event_id: str = msgspec.field(name="eventId")
    """The `webhook-id`"""
    event_type: str = msgspec.field(name="eventType")
    """Type of the event, such as `file.created`"""
    stream: str
    """`server`, or the id of the tenant of the event"""
    sequence: int
    """Number of the event in its stream"""
    outcome: str
    """`pending`, `succeeded`, `failed` after all attempts or an answer 410, or `refused` because of the address"""
    attempt: int
    """How often it was attempted"""
    status: int | None
    """The HTTP status of the answer"""
    error: None | str
    """Why the last attempt failed, such as an answer other than 2xx; null: it did not fail"""
    answer: None | str
    """The first 1024 bytes of the answer"""
    duration_ms: int | None = msgspec.field(name="durationMs")
    """Milliseconds of the last attempt; null: none was made"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the delivery was queued"""
    attempted_at: datetime.datetime | None = msgspec.field(name="attemptedAt")
    """When the last attempt was made; null: none was made"""
    next_attempt_at: datetime.datetime | None = msgspec.field(name="nextAttemptAt")
    """When the next attempt is due; null: none is planned"""


class DeliveryCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Delivery]
    """The records of the page"""
    included: DeliveryCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """A share, for its visitors. Without the proof of its password, only the first four members."""

    id: str
    """Identifies the share; not its secret"""
    kind: DescriptionKind
    """`read`: list and download; `preview`: view without download; `drop`: upload without seeing files; `write`: `read` with uploads"""
    needs_password: bool = msgspec.field(name="needsPassword")
    """Whether the proof of a password is needed"""
    expired: bool
    """Always false: a share that has ended is 404"""
    label: str | Unset = UNSET
    """The maker's title; empty: none"""
    name: str | Unset = UNSET
    """Name of the shared file or folder; absent for the kind `drop`"""
    type_: DescriptionType | Unset = msgspec.field(default=UNSET, name="type")
    """`file` or `folder`; absent for the kind `drop`"""
    file_id: str | Unset = msgspec.field(default=UNSET, name="fileId")
    """Id for further requests; absent for the kind `drop`"""
    size: int | Unset = UNSET
    """In bytes; 0 for folders"""
    content_type: None | str | Unset = msgspec.field(default=UNSET, name="contentType")
    """Media type of the file; null for a folder"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """When the share ends; null: never"""
    remaining_downloads: int | None | Unset = msgspec.field(default=UNSET, name="remainingDownloads")
    """Number of downloads that are left; null: no limit"""
    drop: Drop | Unset = UNSET
    """The settings of a drop box."""
    remaining_files: int | None | Unset = msgspec.field(default=UNSET, name="remainingFiles")
    """Number of files that can still be uploaded; null: no limit"""
    remaining_bytes: int | None | Unset = msgspec.field(default=UNSET, name="remainingBytes")
    """Bytes that can still be uploaded; null: no limit"""


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """The error of one field."""

    field: str
    """The member or parameter, with dots for nested ones; empty: the whole body"""
    code: str
    """What is wrong, such as `required` or `invalid`"""
    message: str
    """What is wrong, for developers; may change"""


class Directory(msgspec.Struct, frozen=True, kw_only=True):
    """A new parent folder, and optionally a new name."""

    parent_id: None | str = msgspec.field(name="parentId")
    """The folder; null is the top level"""
    name: None | str | Unset = UNSET
    """The new name; null: the present one"""
    revision: int | None | Unset = UNSET
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""


class DirectUpload(msgspec.Struct, frozen=True, kw_only=True):
    """The presigned request to the store, to be sent with exactly these headers and then completed."""

    upload_id: str = msgspec.field(name="uploadId")
    """For the request that completes the upload"""
    method: str
    """Method of the request to the store, such as `PUT`"""
    url: str
    """Presigned URL of the store; send no token to it"""
    headers: DirectUploadHeaders
    """Headers to send with the content, unchanged"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """Until when it can be sent and completed"""


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The response of an operation without a result."""

    success: bool
    """Always `true`: an error has a body of its own"""


class Drop(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a drop box."""

    max_bytes: int | None | Unset = msgspec.field(default=UNSET, name="maxBytes")
    """Bytes of all files together; null: no limit"""
    max_files: int | None | Unset = msgspec.field(default=UNSET, name="maxFiles")
    """Number of all files together; null: no limit"""
    allowed_types: list[str] | Unset = msgspec.field(default=UNSET, name="allowedTypes")
    """Media types such as `image/*`; empty: all"""
    require_name: bool | Unset = msgspec.field(default=UNSET, name="requireName")
    """Whether visitors must give a name, `uploadedBy`"""
    layout: DropLayout | Unset = UNSET
    """`by-visitor`: a folder for each name of a sender"""


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was uploaded. Visitors who may see the folder also receive its id."""

    name: str
    """As stored, with a number if the name was taken"""
    size: int
    """In bytes"""
    id: str | Unset = UNSET
    """Only for the kind `write`"""


class DueAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an enrolment in a login."""

    id: str
    """Of `enrolment` in the response to the login"""
    enrolment_id: str = msgspec.field(name="enrolmentId")
    """`id` of the begun enrolment"""
    answer: DueAnswerAnswerType1 | None | str | Unset = UNSET
    """Such as the code of `totp`"""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A URL that receives events, of a tenant or of the server."""

    id: str
    """Identifies the endpoint in paths"""
    tenant_id: None | str = msgspec.field(name="tenantId")
    """The tenant whose events it receives; null: the events of the whole server"""
    owner_id: str = msgspec.field(name="ownerId")
    """The administrator whose rights the endpoint has"""
    url: str
    """The https URL that receives the messages"""
    event_types: list[str] = msgspec.field(name="eventTypes")
    """Types such as `file.created`, groups such as `file.*`, or `*`"""
    description: str
    """A note for administrators; not sent"""
    ordered: bool
    """Whether a failing delivery holds back later ones"""
    status: str
    """`enabled`, or `disabled` by an administrator or after failures"""
    reason: None | str
    """Why the server disabled it"""
    failing_since: datetime.datetime | None = msgspec.field(name="failingSince")
    """Since when no delivery has succeeded; null: it is not failing"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""


class EndpointChanges(msgspec.Struct, frozen=True, kw_only=True):
    """A new state of some members; absent ones stay as they are."""

    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    url: str | Unset = UNSET
    """The https URL that receives the messages"""
    event_types: list[str] | Unset = msgspec.field(default=UNSET, name="eventTypes")
    """Types such as `file.created`, groups such as `file.*`, or `*`; replaces the present list"""
    description: str | Unset = UNSET
    """A note for administrators; not sent"""
    ordered: bool | Unset = UNSET
    """Whether a failing delivery holds back later ones"""
    status: EndpointChangesStatus | Unset = UNSET
    """`enabled` also resumes an endpoint that was disabled by failures"""


class EndpointCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Endpoint]
    """The records of the page"""
    included: EndpointCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class EnrolledTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of a login that has enrolled a factor."""

    access_token: str = msgspec.field(name="accessToken")
    """A JWT, to be sent as `Authorization: Bearer`"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the access token expires; the refresh token gets a new one"""
    refresh_token: str = msgspec.field(name="refreshToken")
    """Gets new tokens, once: the response has the next refresh token"""
    refresh_expires_at: datetime.datetime = msgspec.field(name="refreshExpiresAt")
    """When the login ends unless it is refreshed before"""
    user: LoggedInUser
    """The user who has logged in."""
    factor: Factor
    """An enrolled second factor."""
    shown: EnrolledTokensShown
    """What the client receives only now"""
    second_factor_due_at: datetime.datetime | Unset = msgspec.field(
        default=UNSET, name="secondFactorDueAt"
    )
    """Only if the user must enrol a second factor: until when logins need none"""


class Enrolment(msgspec.Struct, frozen=True, kw_only=True):
    """An open enrolment."""

    id: str
    """Names the enrolment in the request that finishes it"""
    kind: str
    """The kind of factor that is enrolled"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When an answer comes too late"""
    shown: EnrolmentShown
    """What the user needs to answer"""


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every error."""

    error: ErrorMember
    """What went wrong: a code for programs, and a text for developers."""
    challenge: ErrorChallenge | Unset = UNSET
    """Only with `error.second-factor-required`: `id`, `methods`, `expiresAt`"""
    enrolment: ErrorEnrolment | Unset = UNSET
    """Only with `error.second-factor-enrolment-required`"""
    consent: ErrorConsent | Unset = UNSET
    """Only with `error.terms-not-accepted`: `version`, `termsUrl`, `privacyUrl`, and `id` and `expiresAt` if a login can continue"""
    hold: HoldReason | Unset = UNSET
    """The hold that a removal is refused for."""
    retained_until: datetime.datetime | Unset = msgspec.field(default=UNSET, name="retainedUntil")
    """Only with `error.retained`"""
    lock: LockFault | Unset = UNSET
    """The lock that a change is refused for."""


class ErrorMember(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong: a code for programs, and a text for developers."""

    code: str
    """Stable and machine-readable"""
    message: str
    """For developers; may change"""
    details: list[Detail]
    """The faults of single members and parameters; often empty"""
    request_id: str = msgspec.field(name="requestId")
    """`X-Request-Id` of the response, which is in the server's log, too"""


class Factor(msgspec.Struct, frozen=True, kw_only=True):
    """An enrolled second factor."""

    id: str
    """Id of the factor, to rename or remove it"""
    kind: str
    """As in `methods` of a challenge"""
    name: str
    """What the user sees in the list of factors"""
    is_backup: bool = msgspec.field(name="isBackup")
    """Whether it only replaces others"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    last_used_at: datetime.datetime | None = msgspec.field(name="lastUsedAt")
    """When a login or a step-up last used it; `null`: never"""


class FactorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an enrolment."""

    answer: FactorAnswerAnswerType1 | None | str | Unset = UNSET
    """Such as the code of `totp`"""


class FactorCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Factor]
    """The records of the page"""
    included: FactorCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class FactorName(msgspec.Struct, frozen=True, kw_only=True):
    """A new name of a factor."""

    name: str
    """What the user sees in the list of factors"""


class Factors(msgspec.Struct, frozen=True, kw_only=True):
    """The second factors of a user."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Factor]
    """The records of the page"""
    included: FactorsIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""
    shown: FactorsShown
    """By kind: what the user's devices need, such as `passkey.rpId`"""


class FactorState(msgspec.Struct, frozen=True, kw_only=True):
    """The second factors of a user."""

    user: Reference
    """A reference to a related entity, whose summary is in `included` under its id."""
    type_: str = msgspec.field(name="type")
    """USER or ADMIN"""
    factors: list[str]
    """Kinds, once each"""
    is_required: bool = msgspec.field(name="isRequired")
    """Whether the user must have a second factor"""
    due_at: datetime.datetime | None = msgspec.field(name="dueAt")
    """The end of the grace period, if it has begun"""


class FactorStateCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[FactorState]
    """The records of the page"""
    included: FactorStateCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class FileEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An action on a file or folder; name, folder and size are those after the action."""

    id: str
    """Identifies the event"""
    at: datetime.datetime
    """When it happened, in UTC"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant of the file"""
    node_id: str = msgspec.field(name="nodeId")
    """Id of the file or folder, which may be deleted now"""
    action: FileEventAction
    """What was done, such as `file.downloaded`"""
    actor: Reference
    """A reference to a related entity, whose summary is in `included` under its id."""
    on_behalf_of: None | Reference = msgspec.field(name="onBehalfOf")
    """The impersonated user; the actor is then an administrator"""
    plugin: None | str
    """The plugin that used the rights of the actor for another person, such as `share_links` for a visitor; null: the actor acted"""
    address: None | str
    """The client's address"""
    name: str
    """Name of the file or folder"""
    parent_id: None | str = msgspec.field(name="parentId")
    """The folder that it is in; null: the top level"""
    size: int
    """In bytes; 0 for folders"""


class FileEventCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[FileEvent]
    """The records of the page"""
    included: FileEventCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class FilesBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of files and folders, applied in order."""

    items: list[BatchItem]
    """The changes, at most 1,000"""
    atomic: bool | Unset = UNSET
    """Whether an item that fails undoes all others, too"""


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """A user's permission on a file or folder."""

    file_id: str = msgspec.field(name="fileId")
    """Id of the file or folder that the grant is on"""
    permission: GrantPermission
    """`read`, `write` or `manage`; each includes those before it"""
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    """When the grant ends; null: never"""
    granted_by: None | Reference = msgspec.field(name="grantedBy")
    """The user who made the grant; null if unknown"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the grant was made"""
    owner_id: str = msgspec.field(name="ownerId")
    """Id of the user who has the permission"""
    owner: Reference
    """A reference to a related entity, whose summary is in `included` under its id."""


class GrantCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Grant]
    """The records of the page"""
    included: GrantCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A group of members of a tenant, to which grants on files can be made."""

    id: str
    """Identifies the group in paths and grants"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant whose members may be in the group"""
    name: str
    """Unique among the groups of the tenant"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""


class GroupCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Group]
    """The records of the page"""
    included: GroupCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class GroupGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A group's permission on a file or folder."""

    file_id: str = msgspec.field(name="fileId")
    """Id of the file or folder that the grant is on"""
    permission: GroupGrantPermission
    """`read`, `write` or `manage`; each includes those before it"""
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    """When the grant ends; null: never"""
    granted_by: None | Reference = msgspec.field(name="grantedBy")
    """The user who made the grant; null if unknown"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the grant was made"""
    group_id: str = msgspec.field(name="groupId")
    """Id of the group whose members have the permission"""
    group_name: str = msgspec.field(name="groupName")
    """The group's present name"""


class GroupGrantCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[GroupGrant]
    """The records of the page"""
    included: GroupGrantCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class GroupMember(msgspec.Struct, frozen=True, kw_only=True):
    """A user in a group, and who added the user."""

    user: Reference
    """A reference to a related entity, whose summary is in `included` under its id."""
    added_by: None | Reference = msgspec.field(name="addedBy")
    """The user who added the member, or whose invitation did; null if unknown"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the user joined the group"""


class GroupMemberCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[GroupMember]
    """The records of the page"""
    included: GroupMemberCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class GroupName(msgspec.Struct, frozen=True, kw_only=True):
    """A new name of a group. A revision rejects the change if the group has changed since."""

    name: str
    """Unique among the groups of the tenant"""
    revision: int | None | Unset = UNSET
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """A hold on a file, or on a folder and everything in it."""

    file_id: str = msgspec.field(name="fileId")
    """The file or folder that the hold was placed on"""
    reason: str
    """As it was given with the hold"""
    until: datetime.datetime | None
    """When the hold ends; null: when it is released"""
    placed_by: Reference = msgspec.field(name="placedBy")
    """A reference to a related entity, whose summary is in `included` under its id."""
    placed_at: datetime.datetime = msgspec.field(name="placedAt")
    """When it was placed or last replaced"""


class HoldCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Hold]
    """The records of the page"""
    included: HoldCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class HoldReason(msgspec.Struct, frozen=True, kw_only=True):
    """The hold that a removal is refused for."""

    reason: str
    """Why an administrator placed the hold"""
    until: datetime.datetime | None
    """When the hold ends; `null`: when it is released"""


class Impersonation(msgspec.Struct, frozen=True, kw_only=True):
    """An access token that acts as the user, without a refresh token."""

    id: str
    """`DELETE /authorizations/{id}` ends it"""
    access_token: str = msgspec.field(name="accessToken")
    """A JWT that acts as the user; the audit log names the administrator"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the access token expires. It cannot be renewed"""
    user: LoggedInUser
    """The user who has logged in."""


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """An open invitation. Whether the recipient is registered is not revealed."""

    id: str
    """Identifies the invitation in paths; not its secret"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant that the recipient joins"""
    email: None | str
    """The invited address; null for a mobile number"""
    mobile: None | str
    """The invited number; null for an e-mail address"""
    role: str
    """The role that the recipient gets: `admin`, `member` or `records`"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """Until when it can be accepted"""
    groups: list[str]
    """Ids of the groups that the recipient joins"""
    invited_by: Reference = msgspec.field(name="invitedBy")
    """A reference to a related entity, whose summary is in `included` under its id."""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""


class InvitationCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Invitation]
    """The records of the page"""
    included: InvitationCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class InvitationPreview(msgspec.Struct, frozen=True, kw_only=True):
    """An open invitation, for the holder of its secret."""

    id: str
    """Identifies the invitation in paths; not its secret"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant that the recipient joins"""
    email: None | str
    """The invited address; null for a mobile number"""
    mobile: None | str
    """The invited number; null for an e-mail address"""
    role: str
    """The role that the recipient gets: `admin`, `member` or `records`"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """Until when it can be accepted"""
    tenant_name: str = msgspec.field(name="tenantName")
    """The tenant's present name, to show to the recipient"""
    inviter_name: str = msgspec.field(name="inviterName")
    """Name of the administrator who sent it last"""


class InvitationSecret(msgspec.Struct, frozen=True, kw_only=True):
    """The secret of an invitation, from its message."""

    secret: str
    """From the message: its code, or the last part of its link"""


class IssuedChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """A challenge that a factor alone meets."""

    challenge: IssuedChallengeChallenge
    """`id`, `methods`, `expiresAt`, and what factors add, such as `publicKey`"""


class IssuedProof(msgspec.Struct, frozen=True, kw_only=True):
    """How long the proof in the header and the cookie is valid."""

    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """15 minutes after it was issued"""


class IssuedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens, which the headers X-Access-Token and X-Refresh-Token carry as well."""

    access_token: str = msgspec.field(name="accessToken")
    """A JWT, to be sent as `Authorization: Bearer`"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the access token expires; the refresh token gets a new one"""
    refresh_token: str = msgspec.field(name="refreshToken")
    """Gets new tokens, once: the response has the next refresh token"""
    refresh_expires_at: datetime.datetime = msgspec.field(name="refreshExpiresAt")
    """When the login ends unless it is refreshed before"""
    user: LoggedInUser
    """The user who has logged in."""
    second_factor_due_at: datetime.datetime | Unset = msgspec.field(
        default=UNSET, name="secondFactorDueAt"
    )
    """Only if the user must enrol a second factor: until when logins need none"""


class JwkSet(msgspec.Struct, frozen=True, kw_only=True):
    """A JWK Set (RFC 7517)."""

    keys: list[JwkSetKeysItem]
    """The public keys as JWKs, by `kid`"""


class KeyChange(msgspec.Struct, frozen=True, kw_only=True):
    """A new name."""

    name: str
    """What the owner sees in the list of keys"""


class LeakedKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Access keys that were found in a public place."""

    keys: list[str]
    """The whole keys, as found; unknown texts are ignored"""


class Links(msgspec.Struct, frozen=True, kw_only=True):
    """The URLs of other pages; those that this server does not have are absent."""

    openapi: str
    """The OpenAPI document of this server"""
    documentation: str | Unset = UNSET
    """Pages that send requests of the document from the browser"""
    setup: str | Unset = UNSET
    """Only while there is no administrator"""


class LiveSecret(msgspec.Struct, frozen=True, kw_only=True):
    """A secret of a client that is valid, without the secret itself."""

    created_at: datetime.datetime | None = msgspec.field(name="createdAt")
    """When it was created; null: by a former version, which stored no time"""
    ends_at: datetime.datetime | None = msgspec.field(name="endsAt")
    """When it ends; null: at the next rotation"""


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """A lock of a file or folder for changes by others."""

    id: str
    """What changes present in `Lock-Token`; only the holder's requests may"""
    file_id: str = msgspec.field(name="fileId")
    """The file or folder that is locked; a folder around it may be"""
    shared: bool
    """Whether there may be other shared locks of the same"""
    deep: bool
    """Whether a folder is locked with everything in it"""
    note: str
    """As it was given with the lock"""
    locked_by: Reference = msgspec.field(name="lockedBy")
    """A reference to a related entity, whose summary is in `included` under its id."""
    locked_at: datetime.datetime = msgspec.field(name="lockedAt")
    """When it was taken"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When it ends unless it is renewed"""


class LockCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Lock]
    """The records of the page"""
    included: LockCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class LockDuration(msgspec.Struct, frozen=True, kw_only=True):
    """How long a lock lasts from now."""

    seconds: int | Unset = UNSET
    """How long the lock lasts unless it is renewed"""


class LockFault(msgspec.Struct, frozen=True, kw_only=True):
    """The lock that a change is refused for."""

    locked_by: LockHolder | None = msgspec.field(name="lockedBy")
    """Who holds the lock; `null` if it is unknown"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the lock ends"""


class LockHolder(msgspec.Struct, frozen=True, kw_only=True):
    """The user who holds a lock."""

    id: str
    """Identifies the user"""
    name: str
    """The display name, or empty"""


class LoggedInUser(msgspec.Struct, frozen=True, kw_only=True):
    """The user who has logged in."""

    id: str
    """Id of the user; `me` stands for it in paths"""
    name: str
    """What other users see"""
    type_: str = msgspec.field(name="type")
    """`USER`, or `ADMIN` for administrators of the server"""


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """A login. Without a password it needs another proof.

    A login that requires a second factor is finished by a second request with `challenge` alone. The
    answer to a challenge of a factor that logs in alone may also be sent as
    `"passkey": {"challengeId": "...", "credential": {}}`."""

    username: str | Unset = UNSET
    """Required without `challenge`"""
    challenge: ChallengeAnswer | None | Unset = UNSET
    """The answer of a second factor, alone: finishes a login that got a challenge"""
    password: None | str | Unset = UNSET
    """The user's current password"""
    verification_code: None | Unset | VerificationCode = msgspec.field(
        default=UNSET, name="verificationCode"
    )
    """A code for `login` that was sent to `username`, in place of a password"""
    captcha: CaptchaAnswer | None | Unset = UNSET
    """Needed after `error.captcha-required`"""
    new_password: None | str | Unset = msgspec.field(default=UNSET, name="newPassword")
    """With `password`: replaces it, if `error.password-change-required`"""
    accepted_terms: None | str | Unset = msgspec.field(default=UNSET, name="acceptedTerms")
    """The version of the terms that a user accepts who is registered by it"""
    consent: Consent | None | Unset = UNSET
    """Alone: continues a login after `error.terms-not-accepted`"""


class LoginCode(msgspec.Struct, frozen=True, kw_only=True):
    """A login code, with the verifier of its code challenge."""

    code: str
    """From the URL to which the login page has returned, valid once and for a minute"""
    code_verifier: str = msgspec.field(name="codeVerifier")
    """43 to 128 characters, whose SHA-256 was `codeChallenge`"""


class LoginPageTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of the login, as `POST /authorizations` returns them."""

    access_token: str = msgspec.field(name="accessToken")
    """For the header `Authorization: Bearer`"""
    expires_at: str = msgspec.field(name="expiresAt")
    """When the access token expires, in UTC"""
    refresh_token: str = msgspec.field(name="refreshToken")
    """For a new access token; used once"""
    refresh_expires_at: str = msgspec.field(name="refreshExpiresAt")
    """When the refresh token expires, in UTC"""
    user: LoginPageUser
    """The user who has logged in."""
    second_factor_due_at: str | Unset = msgspec.field(default=UNSET, name="secondFactorDueAt")
    """Time until which the user must enrol a second factor, if any"""


class LoginPageUser(msgspec.Struct, frozen=True, kw_only=True):
    """The user who has logged in."""

    id: str
    """Identifies the user in paths"""
    name: str
    """The display name"""
    type_: str = msgspec.field(name="type")
    """`USER` or `ADMIN`"""


class LoginPasskeyNewChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """An empty JSON object."""

    pass


class LoginProvider(msgspec.Struct, frozen=True, kw_only=True):
    """A way to log in that is a redirect to another platform."""

    name: str
    """Unique among all providers"""
    kind: None | str
    """The name of its login method"""
    display_name: str = msgspec.field(name="displayName")
    """The name of the platform"""
    label: str
    """The text of a button"""
    icon_url: None | str = msgspec.field(name="iconUrl")
    """A picture"""
    login_url: str = msgspec.field(name="loginUrl")
    """Begins a login that ends on the login page of this server"""
    shows_qr_code: bool = msgspec.field(name="showsQrCode")
    """Whether the page of the platform shows a QR code"""
    works_in: list[str] = msgspec.field(name="worksIn")
    """Words in the User-Agent of browsers that it needs; empty: any"""
    fails_in: list[str] = msgspec.field(name="failsIn")
    """Words in the User-Agent of browsers that it does not work in"""
    request: LoginRequest | None
    """The request that begins a login on pages of the client's own"""


class LoginProviderCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[LoginProvider]
    """The records of the page"""
    included: LoginProviderCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class LoginRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request that begins a login for a client with pages of its own."""

    path: str
    """The path of the operation, by POST"""
    body: LoginRequestBody
    """The members of its body that choose the app or provider"""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A user in a tenant, with the user's role."""

    user: Reference
    """A reference to a related entity, whose summary is in `included` under its id."""
    role: str
    """`admin`, `member` or `records`"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the user joined the tenant"""


class MemberCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Member]
    """The records of the page"""
    included: MemberCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """Paging information."""

    total_count: int = msgspec.field(name="totalCount")
    """Records on all pages together"""
    page_size: int = msgspec.field(name="pageSize")
    """The largest number of records on a page, as requested"""
    page_number: int = msgspec.field(name="pageNumber")
    """The page of this response, from 1 on"""
    page_count: int = msgspec.field(name="pageCount")
    """Pages of the requested size; 0: there is no record"""
    is_first_page: bool = msgspec.field(name="isFirstPage")
    """Whether no page comes before"""
    is_last_page: bool = msgspec.field(name="isLastPage")
    """Whether no page follows"""
    has_previous_page: bool = msgspec.field(name="hasPreviousPage")
    """Whether `previousPageLink` is a URL"""
    previous_page_link: None | str = msgspec.field(name="previousPageLink")
    """URL of the page before, with the same filters; `null`: there is none"""
    has_next_page: bool = msgspec.field(name="hasNextPage")
    """Whether `nextPageLink` is a URL"""
    next_page_link: None | str = msgspec.field(name="nextPageLink")
    """URL of the page after, with the same filters; `null`: there is none"""


class NewChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of a login by a factor alone."""

    username: None | str | Unset = UNSET
    """Absent: any user's answer is right"""


class NewClient(msgspec.Struct, frozen=True, kw_only=True):
    """An application that will log its users in here."""

    name: str
    """What users see of the client, such as on the page of their consent"""
    accent: None | str | Unset = UNSET
    """The colour of buttons and links on the pages of logins and consents, as `#rrggbb`; null: the server's. Links are a darker or lighter shade where the contrast would be below 4.5"""
    terms_url: None | str | Unset = msgspec.field(default=UNSET, name="termsUrl")
    """The terms of service of the client: an https URL"""
    privacy_url: None | str | Unset = msgspec.field(default=UNSET, name="privacyUrl")
    """The privacy policy of the client: an https URL"""
    redirect_uris: list[str] | Unset = msgspec.field(default=UNSET, name="redirectUris")
    """Where browsers return to, compared character by character: https URLs, loopback URLs, and of public clients URIs of a scheme such as `com.example.app:/callback`. The port of a loopback URL of a public client is free"""
    public: bool | Unset = UNSET
    """Whether it cannot keep a secret, such as an app; it gets none"""
    trusted: bool | Unset = UNSET
    """Whether users are not asked for their consent; for applications of the operator"""
    scopes: list[str] | Unset = UNSET
    """The scopes that the client may request: of OpenID Connect, of the REST API, or others"""
    resources: list[str] | Unset = UNSET
    """URIs of other services that the client may request tokens for (RFC 8707)"""
    post_logout_redirect_uris: list[str] | Unset = msgspec.field(
        default=UNSET, name="postLogoutRedirectUris"
    )
    """Where browsers may go on to after a logout that the client has begun, compared character by character"""
    backchannel_logout_uri: None | str | Unset = msgspec.field(
        default=UNSET, name="backchannelLogoutUri"
    )
    """URL that the server reports the end of a login to, by a signed token (OpenID Connect Back-Channel Logout); null: none"""
    service_account_id: None | str | Unset = msgspec.field(default=UNSET, name="serviceAccountId")
    """Id of the service account that the client acts as, without a user, by the grant `client_credentials`; null: none. The caller manages the account, and the client has a secret"""
    device_login: bool | Unset = msgspec.field(default=UNSET, name="deviceLogin")
    """Whether its users may log in on another device, by a code that the client shows (RFC 8628)"""
    claims: list[ClaimRule] | Unset = UNSET
    """The claims about groups and roles that the client gets, if it requests the scope `groups` or `roles`; by default none"""


class NewClientWithSecret(msgspec.Struct, frozen=True, kw_only=True):
    """A new client with its secret."""

    id: str
    """The `client_id`"""
    name: str
    """What users see of the client, such as on the page of their consent"""
    public: bool
    """Whether it cannot keep a secret, such as an app"""
    trusted: bool
    """Whether users are not asked for their consent; for applications of the operator"""
    redirect_uris: list[str] = msgspec.field(name="redirectUris")
    """Where browsers return to, compared character by character: https URLs, loopback URLs, and of public clients URIs of a scheme such as `com.example.app:/callback`. The port of a loopback URL of a public client is free"""
    scopes: list[str]
    """The scopes that the client may request: of OpenID Connect, of the REST API, or others"""
    resources: list[str]
    """URIs of other services that the client may request tokens for (RFC 8707)"""
    post_logout_redirect_uris: list[str] = msgspec.field(name="postLogoutRedirectUris")
    """Where browsers may go on to after a logout that the client has begun, compared character by character"""
    backchannel_logout_uri: None | str = msgspec.field(name="backchannelLogoutUri")
    """URL that the server reports the end of a login to, by a signed token (OpenID Connect Back-Channel Logout); null: none"""
    service_account_id: None | str = msgspec.field(name="serviceAccountId")
    """Id of the service account that the client acts as, without a user, by the grant `client_credentials`; null: none. The caller manages the account, and the client has a secret"""
    accent: None | str
    """The colour of buttons and links on the pages of logins and consents, as `#rrggbb`; null: the server's. Links are a darker or lighter shade where the contrast would be below 4.5"""
    terms_url: None | str = msgspec.field(name="termsUrl")
    """The terms of service of the client: an https URL"""
    privacy_url: None | str = msgspec.field(name="privacyUrl")
    """The privacy policy of the client: an https URL"""
    logo: None | str
    """The path of its logo, below the public URL; null without one"""
    disabled_at: datetime.datetime | None = msgspec.field(name="disabledAt")
    """Since when it cannot log its users in; null: it can"""
    device_login: bool = msgspec.field(name="deviceLogin")
    """Whether its users may log in on another device, by a code that the client shows (RFC 8628)"""
    self_registered: bool = msgspec.field(name="selfRegistered")
    """Whether it has registered itself, and chosen its name (RFC 7591)"""
    claims: list[ClaimRule]
    """The claims about groups and roles that the client gets, if it requests the scope `groups` or `roles`; by default none"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""
    secret: None | str
    """The `client_secret`, which is shown once; null: a public client"""


class NewDirectUpload(msgspec.Struct, frozen=True, kw_only=True):
    """A file to be uploaded directly to the store."""

    name: str
    """Name of the file, unless `relativePath` has folders and so another name"""
    size: int
    """Exact number of bytes that will be sent"""
    checksum: str
    """sha256: and 64 hexadecimal digits"""
    parent_id: None | str | Unset = msgspec.field(default=UNSET, name="parentId")
    """The folder; null: the top level"""
    relative_path: None | str | Unset = msgspec.field(default=UNSET, name="relativePath")
    """Path of the file from the folder, such as `photos/2026/a.jpg`; missing folders are created"""


class NewDueEnrolment(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of an enrolment in a login."""

    kind: str
    """Such as `totp` or `recovery-code`"""
    id: str
    """Of `enrolment` in the response to the login"""
    name: str | Unset = UNSET
    """A name for the user's list"""


class NewEmail(msgspec.Struct, frozen=True, kw_only=True):
    """An e-mail address to bind, with a code sent to it."""

    email: str
    """The new address, in any spelling"""
    verification_code: VerificationCode = msgspec.field(name="verificationCode")
    """A code from a message, with its id."""
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""


class NewEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A URL that will receive events, of a tenant or of the server."""

    url: str
    """An https URL"""
    event_types: list[str] = msgspec.field(name="eventTypes")
    """Types such as `file.created`, groups such as `file.*`, or `*`"""
    tenant_id: None | str | Unset = msgspec.field(default=UNSET, name="tenantId")
    """The tenant; without it, events of the whole server"""
    description: str | Unset = UNSET
    """A note for administrators; not sent"""
    ordered: bool | Unset = UNSET
    """Whether a failing delivery holds back later ones"""


class NewEndpointWithSecret(msgspec.Struct, frozen=True, kw_only=True):
    """A new endpoint with its secret."""

    secret: str
    """For signatures `v1`"""
    public_key: str = msgspec.field(name="publicKey")
    """For signatures `v1a`"""
    id: str
    """Identifies the endpoint in paths"""
    tenant_id: None | str = msgspec.field(name="tenantId")
    """The tenant whose events it receives; null: the events of the whole server"""
    owner_id: str = msgspec.field(name="ownerId")
    """The administrator whose rights the endpoint has"""
    url: str
    """The https URL that receives the messages"""
    event_types: list[str] = msgspec.field(name="eventTypes")
    """Types such as `file.created`, groups such as `file.*`, or `*`"""
    description: str
    """A note for administrators; not sent"""
    ordered: bool
    """Whether a failing delivery holds back later ones"""
    status: str
    """`enabled`, or `disabled` by an administrator or after failures"""
    reason: None | str
    """Why the server disabled it"""
    failing_since: datetime.datetime | None = msgspec.field(name="failingSince")
    """Since when no delivery has succeeded; null: it is not failing"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""


class NewFactor(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of an enrolment."""

    kind: str
    """Such as `totp` or `recovery-code`"""
    name: str | Unset = UNSET
    """A name for the user's list"""


class NewFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder to be created."""

    name: str
    """At most 255 characters, without `/`; unique in its folder"""


class NewGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A grant to a member of the tenant."""

    permission: NewGrantPermission
    """`read`, `write` or `manage`; each includes those before it"""
    owner_id: str = msgspec.field(name="ownerId")
    """Id of the user who gets the permission"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """As `2026-06-21T00:00:00Z`; null for a permanent grant"""


class NewGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group to be created, without members."""

    name: str
    """Unique among the groups of the tenant"""


class NewGroupGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A grant to a group of the tenant."""

    permission: NewGroupGrantPermission
    """`read`, `write` or `manage`; each includes those before it"""
    group_id: str = msgspec.field(name="groupId")
    """Id of a group of the tenant"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """As `2026-06-21T00:00:00Z`; null for a permanent grant"""


class NewHold(msgspec.Struct, frozen=True, kw_only=True):
    """A hold to be placed."""

    reason: str
    """Such as the case that needs the files; recorded in the audit log"""
    until: datetime.datetime | None | Unset = UNSET
    """When the hold ends; null: when it is released"""


class NewImpersonation(msgspec.Struct, frozen=True, kw_only=True):
    """Why, and for how long."""

    reason: str
    """For the audit log"""
    minutes: int
    """How long the access token is valid"""


class NewInvitation(msgspec.Struct, frozen=True, kw_only=True):
    """An invitation to one e-mail address or one mobile number."""

    email: None | str | Unset = UNSET
    """The address to invite; absent for a mobile number"""
    mobile: None | str | Unset = UNSET
    """The number to invite, in international format; absent for an e-mail address"""
    role: NewInvitationRole | Unset = UNSET
    """The role that the user gets; `admin` and `records` require a recent proof of the second factor"""
    groups: list[str] | Unset = UNSET
    """Ids of groups of the tenant that the user joins"""


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """An access key of the caller, with a fresh proof unless the login is at most 10 minutes old."""

    name: str
    """What the owner sees in the list of keys"""
    scopes: list[NewKeyScopesItem]
    """What the key may do. A key with a tenant or a folder can have fewer of them"""
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""
    file_id: None | str | Unset = msgspec.field(default=UNSET, name="fileId")
    """The only folder, with its subtree, that the key reaches"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """By default, after `access_keys.default_lifetime_days`"""
    addresses: list[str] | Unset = UNSET
    """The networks that may use the key; empty: all"""
    tenant_id: None | str | Unset = msgspec.field(default=UNSET, name="tenantId")
    """The only tenant that the key reaches; required with fileId"""


class NewLock(msgspec.Struct, frozen=True, kw_only=True):
    """A lock to be taken."""

    seconds: int | Unset = UNSET
    """How long the lock lasts unless it is renewed"""
    shared: bool | Unset = UNSET
    """Whether other users may take shared locks of the same, too"""
    deep: bool | Unset = UNSET
    """Whether a folder is locked with everything in it, at any depth"""
    note: str | Unset = UNSET
    """A text for others, such as the program that has the file open"""


class NewMobile(msgspec.Struct, frozen=True, kw_only=True):
    """A mobile number to bind, with a code sent to it."""

    mobile: str
    """The new number, in any spelling"""
    verification_code: VerificationCode = msgspec.field(name="verificationCode")
    """A code from a message, with its id."""
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""


class NewPasskey(msgspec.Struct, frozen=True, kw_only=True):
    """A created credential."""

    challenge_id: str = msgspec.field(name="challengeId")
    """`id` of the challenge that the browser has answered"""
    credential: NewPasskeyCredential
    """`credential.toJSON()`"""
    name: str | Unset = UNSET
    """A name for the user's list, such as the device's"""


class NewPasswordLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link by which a user sets a password."""

    kind: NewPasswordLinkKind
    """`invite`: valid for 7 days; `reset`: for a day"""
    send: bool | Unset = UNSET
    """Whether to send it to the user, or to return it"""


class NewRetention(msgspec.Struct, frozen=True, kw_only=True):
    """Retention settings of a tenant to be set."""

    trash_days: int | None | Unset = msgspec.field(default=UNSET, name="trashDays")
    """Days after which deleted files are removed from the trash; null: the setting of the server"""
    keep_versions: int | None | Unset = msgspec.field(default=UNSET, name="keepVersions")
    """Earlier contents kept of a file; null: the setting of the server"""
    version_days: int | None | Unset = msgspec.field(default=UNSET, name="versionDays")
    """Days after which earlier contents are removed; null: the setting of the server"""
    minimum_days: int | Unset = msgspec.field(default=UNSET, name="minimumDays")
    """Days after its last change before which no content is removed"""
    mode: NewRetentionMode | Unset = UNSET
    """`governance`: administrators may remove retained content with a reason; `compliance`: no user may, and the settings may only become stricter"""


class NewServiceAccount(msgspec.Struct, frozen=True, kw_only=True):
    """A new service account, or a new name."""

    name: str
    """What administrators see in lists, such as the name of the machine"""


class NewServiceKey(msgspec.Struct, frozen=True, kw_only=True):
    """An access key of a service account, which is limited to the tenant of the account."""

    name: str
    """What the owner sees in the list of keys"""
    scopes: list[NewServiceKeyScopesItem]
    """What the key may do. A key with a tenant or a folder can have fewer of them"""
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""
    file_id: None | str | Unset = msgspec.field(default=UNSET, name="fileId")
    """The only folder, with its subtree, that the key reaches"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """By default, after `access_keys.default_lifetime_days`"""
    addresses: list[str] | Unset = UNSET
    """The networks that may use the key; empty: all"""


class NewShare(msgspec.Struct, frozen=True, kw_only=True):
    """What a link to a file or folder allows, to which visitors, and until when."""

    kind: NewShareKind
    """`read`: list and download; `preview`: view without download; `drop`: upload without seeing files; `write`: `read` with uploads"""
    label: str | Unset = UNSET
    """A title, shown to visitors"""
    password: None | str | Unset = UNSET
    """At least 8 characters; null: no password"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """As `2026-06-21T00:00:00Z`; null: the latest that the policy allows"""
    max_downloads: int | None | Unset = msgspec.field(default=UNSET, name="maxDownloads")
    """Downloads of all visitors together; null: no limit"""
    audience: NewShareAudienceType0 | NewShareAudienceUsers | Unset = UNSET
    """Who may open it, given the link: `anyone`, `logged-in` users, `members` of the tenant, or the users of `userIds`; `anyone` by default"""
    notify: bool | Unset = UNSET
    """Messages to the maker: first opening, each drop, last download"""
    drop: Drop | Unset = UNSET
    """The settings of a drop box."""


class NewShareAudienceUsers(msgspec.Struct, frozen=True, kw_only=True):
    """`NewShareAudienceUsers` of the API."""

    user_ids: list[str] = msgspec.field(name="userIds")
    """Ids of the users who may open the share"""


class NewTenant(msgspec.Struct, frozen=True, kw_only=True):
    """A tenant to be created."""

    name: str
    """Shown to members; several tenants may have the same name"""


class NewTotp(msgspec.Struct, frozen=True, kw_only=True):
    """An authenticator app."""

    name: str | Unset = UNSET
    """A name for the user's list"""


class NewUser(msgspec.Struct, frozen=True, kw_only=True):
    """A registration, or a user that an administrator creates.

    A registration needs a password, a code for each e-mail address and mobile number, and a captcha
    without either. `invitation` proves the address that it was sent to. An administrator needs none of
    them, and only an administrator may send `emailVerified`, `mobileVerified`, `passwordHash`,
    `passwordChangeRequired`, `invite`, `externalId`, `metadata` and `serverMetadata`."""

    name: str
    """What other users see; it need not be unique"""
    email: None | str | Unset = UNSET
    """An address to log in with; no other user may have it"""
    mobile: None | str | Unset = UNSET
    """A number to log in with, as `+8613800138000`; no other user may have it"""
    username: None | str | Unset = UNSET
    """A name to log in with; no other user may have it"""
    password: None | str | Unset = UNSET
    """With an uppercase letter, a lowercase letter and a digit"""
    verification_codes: list[VerificationCode] | Unset = msgspec.field(
        default=UNSET, name="verificationCodes"
    )
    """For a registration: a code for `register` for each contact, except one that `invitation` proves"""
    captcha: CaptchaAnswer | None | Unset = UNSET
    """For a registration without an e-mail address and a mobile number"""
    invitation: None | str | Unset = UNSET
    """The secret of an invitation, which proves its address"""
    accepted_terms: None | str | Unset = msgspec.field(default=UNSET, name="acceptedTerms")
    """The version of the terms that the user accepts"""
    email_verified: bool | Unset = msgspec.field(default=UNSET, name="emailVerified")
    """Whether the address counts as proven"""
    mobile_verified: bool | Unset = msgspec.field(default=UNSET, name="mobileVerified")
    """Whether the number counts as proven"""
    password_hash: NewUserPasswordHashType0 | None | Unset = msgspec.field(
        default=UNSET, name="passwordHash"
    )
    """A hash of another system: `algorithm` names its scheme"""
    password_change_required: bool | Unset = msgspec.field(default=UNSET, name="passwordChangeRequired")
    """Whether the first login must replace the password"""
    invite: bool | Unset = UNSET
    """Whether to send a link by which the user chooses a password"""
    external_id: None | str | Unset = msgspec.field(default=UNSET, name="externalId")
    """The id in another system"""
    metadata: NewUserMetadata | Unset = UNSET
    """A JSON object of at most 16384 bytes"""
    server_metadata: NewUserServerMetadata | Unset = msgspec.field(default=UNSET, name="serverMetadata")
    """A JSON object of at most 16384 bytes"""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder, with the caller's permission on it."""

    id: str
    """Identifies the file or folder in paths; it never changes"""
    type_: NodeType = msgspec.field(name="type")
    """`file` or `folder`"""
    name: str
    """With the extension; unique in its folder"""
    parent_id: None | str = msgspec.field(name="parentId")
    """Id of the folder that it is in; null: the top level"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant whose quota it counts in"""
    size: int
    """In bytes; 0 for folders"""
    content_type: None | str = msgspec.field(name="contentType")
    """Media type, detected from content and name; null for folders"""
    checksum: None | str
    """`sha256:` and hexadecimal digits"""
    owner: Reference
    """A reference to a related entity, whose summary is in `included` under its id."""
    permission: NodePermission
    """The caller's permission: `none`, `read`, `write` or `manage`"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""
    scan: NodeScanType0 | None
    """Scan state of the content; null for folders. Content that is `pending`, `infected` or `rejected` cannot be read"""
    path: list[str] | Unset = UNSET
    """With `include=path`: the names from the topmost folder that the caller can see down to the node's own"""
    is_held: bool | None | Unset = msgspec.field(default=UNSET, name="isHeld")
    """With `include=holds`: whether a hold is on the file or folder itself; null: the caller may not see holds"""
    is_locked: bool | Unset = msgspec.field(default=UNSET, name="isLocked")
    """With `include=locks`: whether the file or folder itself is locked; a folder around it may be"""


class NodeCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Node]
    """The records of the page"""
    included: NodeCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class OidcProviderConsent(msgspec.Struct, frozen=True, kw_only=True):
    """What a user has let a client do."""

    id: str
    """Id in paths: `clientId`, or a hash of it if it is a URL"""
    client_id: str = msgspec.field(name="clientId")
    """Id of the client"""
    client_name: str = msgspec.field(name="clientName")
    """What users see of the client"""
    resource: str
    """URI of the service that its tokens are for; empty: the client itself"""
    scopes: list[str]
    """The scopes that the user has allowed"""
    tenant_id: None | str = msgspec.field(name="tenantId")
    """The only tenant that the client reaches; null: all"""
    file_id: None | str = msgspec.field(name="fileId")
    """The only folder that the client reaches; null: all"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""
    last_used_at: datetime.datetime | None = msgspec.field(name="lastUsedAt")
    """When the client last used a grant that has not ended; null: it has none"""


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """What a visitor did."""

    at: datetime.datetime
    """When it happened, in UTC"""
    what: str
    """What the visitor did, as in the filter `what`"""
    address: str
    """Shortened: IPv4 /24, IPv6 /48"""
    file_id: None | str = msgspec.field(name="fileId")
    """The file or folder; null: the share as a whole"""
    name: None | str
    """Name of the file; null if there is none"""
    size: int | None
    """Bytes of the file; null if there is none"""
    uploaded_by: None | str = msgspec.field(name="uploadedBy")
    """The name that the visitor gave with an upload; null: none"""


class OpeningCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Opening]
    """The records of the page"""
    included: OpeningCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class PasskeyChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """What `navigator.credentials` of the browser needs."""

    id: str
    """For the request that sends the answer"""
    public_key: PasskeyChallengePublicKey = msgspec.field(name="publicKey")
    """Options as JSON (WebAuthn Level 3, section 5.1.8)"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """Until when the answer is accepted, in UTC"""


class PasskeyEndpoints(msgspec.Struct, frozen=True, kw_only=True):
    """The pages for passkeys, in the form that password managers expect."""

    enroll: str | Unset = UNSET
    """The page to add a passkey"""
    manage: str | Unset = UNSET
    """The page to manage passkeys"""


class PasskeyName(msgspec.Struct, frozen=True, kw_only=True):
    """The name that a passkey gets."""

    name: str
    """A name for the user's list; empty: none"""


class Password(msgspec.Struct, frozen=True, kw_only=True):
    """A password whose strength is estimated."""

    password: str
    """It is neither stored nor logged"""


class PasswordChange(msgspec.Struct, frozen=True, kw_only=True):
    """The old password and the new one. Without an old one, the proof that binding a contact needs."""

    new_password: str = msgspec.field(name="newPassword")
    """With an uppercase letter, a lowercase letter and a digit"""
    old_password: None | str | Unset = msgspec.field(default=UNSET, name="oldPassword")
    """Required if the user has a password"""
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a contact; required with a contact and no password"""


class PasswordLink(msgspec.Struct, frozen=True, kw_only=True):
    """An issued link."""

    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the link is no longer accepted"""
    url: str | Unset = UNSET
    """Only with `send: false`, and only now"""


class PasswordLinkRedemption(msgspec.Struct, frozen=True, kw_only=True):
    """The token of a link, and the password that it sets."""

    token: str
    """The last part of the URL of the link"""
    new_password: str = msgspec.field(name="newPassword")
    """With an uppercase letter, a lowercase letter and a digit"""


class PasswordReset(msgspec.Struct, frozen=True, kw_only=True):
    """A new password and a reset code."""

    verification_code: VerificationCode = msgspec.field(name="verificationCode")
    """A code from a message, with its id."""
    new_password: str = msgspec.field(name="newPassword")
    """With an uppercase letter, a lowercase letter and a digit"""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules in force: the stricter of the server's and the tenant's."""

    enabled: bool
    """Whether shares can be made and opened"""
    kinds: list[str]
    """The kinds of shares that can be made and opened"""
    max_lifetime_days: int = msgspec.field(name="maxLifetimeDays")
    """Longest lifetime of a share in days; 0: no limit"""
    password: str
    """Whether shares need a password: `optional` or `required`"""
    who: str
    """Who makes shares: `manage` (of the file), `tenant-admins` or `nobody`"""


class PolicyChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a tenant; null: those of the server."""

    enabled: bool | None | Unset = UNSET
    """Whether shares can be made and opened; null: the server's rule"""
    kinds: list[PolicyChangesKindsType0Item] | None | Unset = UNSET
    """The kinds of shares that can be made and opened; null: the server's rule"""
    max_lifetime_days: int | None | Unset = msgspec.field(default=UNSET, name="maxLifetimeDays")
    """Longest lifetime of a share in days; 0 or null: the server's rule"""
    password: None | PolicyChangesPasswordType0 | Unset = UNSET
    """Whether shares need a password: `optional` or `required`; null: the server's rule"""
    who: None | PolicyChangesWhoType0 | Unset = UNSET
    """Who makes shares: `manage` (of the file), `tenant-admins` or `nobody`; null: the server's rule"""


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """The password of a share."""

    password: str
    """As the maker has set it"""
    captcha: Captcha | None | Unset = UNSET
    """Required after several wrong passwords"""


class QuarantinedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file in quarantine."""

    id: str
    """Identifies the file in quarantine"""
    kind: str
    """`file` for tenants' files, or `business-file`"""
    file_id: str = msgspec.field(name="fileId")
    """The id of the file, or the name of a business file"""
    tenant_id: None | str = msgspec.field(name="tenantId")
    """The tenant of the file; null for a business file"""
    name: str
    """Name of the file, generated for a business file"""
    owner: Reference
    """A reference to a related entity, whose summary is in `included` under its id."""
    size: int
    """In bytes"""
    content_type: str = msgspec.field(name="contentType")
    """Media type, detected from the content"""
    scan: QuarantinedFileScan
    """`infected`: a signature matched; `rejected`: the scanner or the configuration refuses the content"""
    reason: str
    """The signature, or the reason"""
    scanner: str
    """Name of the scanner"""
    engine: str
    """Version of the scanner's engine"""
    database_version: str = msgspec.field(name="databaseVersion")
    """Version of its signatures"""
    scanned_at: datetime.datetime = msgspec.field(name="scannedAt")
    """When the last scan ended"""


class QuarantinedFileCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[QuarantinedFile]
    """The records of the page"""
    included: QuarantinedFileCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The instance has no fault of its own."""

    status: str
    """Always `ready`; an instance with a fault responds with 503"""
    parts: list[str]
    """The parts that were checked, such as `database`"""
    notes: ReadyNotes | Unset = UNSET
    """By part: faults that all instances share, and remarks"""


class ReceivedInvitation(msgspec.Struct, frozen=True, kw_only=True):
    """An open invitation to a contact of the caller."""

    id: str
    """Identifies the invitation in paths; not its secret"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant that the recipient joins"""
    email: None | str
    """The invited address; null for a mobile number"""
    mobile: None | str
    """The invited number; null for an e-mail address"""
    role: str
    """The role that the recipient gets: `admin`, `member` or `records`"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """Until when it can be accepted"""
    groups: list[str]
    """Ids of the groups that the recipient joins"""
    invited_by: Reference = msgspec.field(name="invitedBy")
    """A reference to a related entity, whose summary is in `included` under its id."""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    tenant_name: str = msgspec.field(name="tenantName")
    """The tenant's present name, to show to the recipient"""


class ReceivedInvitationCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[ReceivedInvitation]
    """The records of the page"""
    included: ReceivedInvitationCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class RecoveryCodes(msgspec.Struct, frozen=True, kw_only=True):
    """A new sheet of recovery codes."""

    recovery_codes: list[str] = msgspec.field(name="recoveryCodes")
    """Each replaces a second factor once. No later response has them"""


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """A reference to a related entity, whose summary is in `included` under its id."""

    ref: str = msgspec.field(name="$ref")
    """Id of the entity: the key of its summary in `included`"""


class Refresh(msgspec.Struct, frozen=True, kw_only=True):
    """A refresh token, unless the header X-Refresh-Token carries it."""

    refresh_token: None | str | Unset = msgspec.field(default=UNSET, name="refreshToken")
    """The newest refresh token of the login; reusing an older one ends the login"""


class RelatedOrigins(msgspec.Struct, frozen=True, kw_only=True):
    """The origins whose pages may use the server's passkeys."""

    origins: list[str]
    """Origins such as `https://accounts.example.com`"""


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """The reason of a release; it is recorded in the audit log."""

    reason: str
    """Why the content may be read, for the audit log"""


class RemovedFactor(msgspec.Struct, frozen=True, kw_only=True):
    """The factors that are left."""

    shown: RemovedFactorShown
    """By kind: what the user's devices need, such as `passkey.rpId`"""
    success: bool
    """Always `true`: an error has a body of its own"""


class Rename(msgspec.Struct, frozen=True, kw_only=True):
    """A new name. A revision, here or in If-Match, rejects the change if the node has changed since."""

    name: str
    """The new name, with its extension"""
    revision: int | None | Unset = UNSET
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""


class RenamedFactor(msgspec.Struct, frozen=True, kw_only=True):
    """A second factor after its change of name."""

    shown: RenamedFactorShown
    """By kind: what the user's devices need, such as `passkey.rpId`"""
    factor: Factor
    """An enrolled second factor."""


class RenewedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A new access token of the same login."""

    access_token: str = msgspec.field(name="accessToken")
    """A JWT that has the new proof, to be sent from now on"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the new access token expires"""


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """Which events are sent again."""

    from_sequence: int = msgspec.field(name="fromSequence")
    """The sequence of the first event in its stream"""
    stream: str | Unset = UNSET
    """`server` or a tenant; default: the tenant of the endpoint"""


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """How many events are sent again."""

    count: int
    """Number of events that are queued; other types are not counted"""
    next_sequence: int | None = msgspec.field(name="nextSequence")
    """Where to continue, if there were too many for one request"""


class RestorableContact(msgspec.Struct, frozen=True, kw_only=True):
    """What a link does, with masked contacts."""

    kind: RestorableContactKind
    """Which contact was changed"""
    former: str
    """The contact to take back"""
    current: None | str
    """What replaced it; `null`: it was removed"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the link is no longer accepted"""


class Restoration(msgspec.Struct, frozen=True, kw_only=True):
    """Where to restore a file or folder."""

    parent_id: None | str | Unset = msgspec.field(default=UNSET, name="parentId")
    """The folder; null is the top level. By default, the folder that it was in"""
    on_conflict: RestorationOnConflict | Unset = msgspec.field(default=UNSET, name="onConflict")
    """What happens if the name is taken: `fail` responds 409, `rename` appends a number, `replace` puts the file that has the name into the trash"""


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """The retention that applies to a tenant: the stricter of its own settings and the server's."""

    trash_days: int = msgspec.field(name="trashDays")
    """Days after which deleted files are removed from the trash"""
    keep_versions: int = msgspec.field(name="keepVersions")
    """Number of earlier contents that are kept of a file"""
    version_days: int = msgspec.field(name="versionDays")
    """Days after which earlier contents are removed"""
    minimum_days: int = msgspec.field(name="minimumDays")
    """Days after its last change before which no content is removed; 0: none"""
    mode: RetentionMode
    """`governance`: administrators may override with a reason; `compliance`: no user may"""


class RevokedKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a report of leaked keys."""

    revoked: int
    """The number of revoked keys"""


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """Role of a member."""

    role: RoleRole
    """`admin` manages the tenant and all its files, `member` has access by grants, `records` also places and releases holds"""


class Rotation(msgspec.Struct, frozen=True, kw_only=True):
    """A rotation of an access key."""

    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""
    overlap_seconds: int | Unset = msgspec.field(default=UNSET, name="overlapSeconds")
    """Seconds for which the previous secret remains valid"""


class ScheduledDeletion(msgspec.Struct, frozen=True, kw_only=True):
    """The deletion of the caller."""

    due_at: datetime.datetime = msgspec.field(name="dueAt")
    """When the account is deleted, unless its user cancels it before"""


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """The keys that a receiver verifies with; the secret is shown once."""

    secret: str
    """For signatures `v1`"""
    public_key: str = msgspec.field(name="publicKey")
    """For signatures `v1a`"""


class SecretRotation(msgspec.Struct, frozen=True, kw_only=True):
    """How long the former secret remains valid."""

    overlap_seconds: int | Unset = msgspec.field(default=UNSET, name="overlapSeconds")
    """Seconds for which messages have signatures of both secrets; 0: the former one ends at once"""


class SentCode(msgspec.Struct, frozen=True, kw_only=True):
    """A code that was sent, unless no message is due for the recipient."""

    id: str
    """Accompanies the code in the request that uses it"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the code is no longer accepted"""
    retry_after_seconds: int = msgspec.field(name="retryAfterSeconds")
    """Seconds until another code may be requested for the recipient"""


class ServiceAccount(msgspec.Struct, frozen=True, kw_only=True):
    """A service account: a user of the type SERVICE."""

    id: str
    """Id of the account, which is its id as a user, too"""
    name: str
    """What administrators see in lists"""
    created_by: Reference = msgspec.field(name="createdBy")
    """A reference to a related entity, whose summary is in `included` under its id."""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""


class ServiceAccountCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[ServiceAccount]
    """The records of the page"""
    included: ServiceAccountCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The account of the first administrator, and the token of the setup link."""

    token: str
    """The token in the link that the operator has issued"""
    email: str
    """The address to log in with"""
    password: str
    """With an uppercase letter, a lowercase letter and a digit"""
    name: str | Unset = UNSET
    """What other users see"""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A share, for its makers."""

    id: str
    """Identifies the share in paths; not the secret of its link"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant of the file"""
    file_id: str = msgspec.field(name="fileId")
    """The shared file or folder"""
    maker_id: str = msgspec.field(name="makerId")
    """The user whose rights visitors use"""
    url: None | str
    """For its maker and administrators; null if it cannot be read again"""
    kind: ShareKind
    """`read`: list and download; `preview`: view without download; `drop`: upload without seeing files; `write`: `read` with uploads"""
    label: str
    """A title, shown to visitors; empty: none"""
    state: str
    """`active`, or why it is not open"""
    closed: bool
    """Whether it was closed by a user, or because the file was in the trash, the tenant was deleted or the maker left it"""
    has_password: bool = msgspec.field(name="hasPassword")
    """Whether visitors need a password"""
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    """When it ends; null: never"""
    max_downloads: int | None = msgspec.field(name="maxDownloads")
    """Downloads of all visitors together; null: no limit"""
    downloads: int
    """Number of downloads so far, as `maxDownloads` counts them"""
    audience: ShareAudienceType0 | ShareAudienceUsers
    """Who may open it, given the link: `anyone`, `logged-in` users, `members` of the tenant, or the users of `userIds`"""
    notify: bool
    """Whether the maker gets messages about openings, drops and the last download"""
    drop: Drop
    """The settings of a drop box."""
    dropped_files: int = msgspec.field(name="droppedFiles")
    """Number of uploaded files, with those that are being uploaded"""
    dropped_bytes: int = msgspec.field(name="droppedBytes")
    """Bytes of uploaded files, with those that are being uploaded"""
    opened_at: datetime.datetime | None = msgspec.field(name="openedAt")
    """When a visitor first opened it; null: none did"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""


class ShareAudienceUsers(msgspec.Struct, frozen=True, kw_only=True):
    """`ShareAudienceUsers` of the API."""

    user_ids: list[str] = msgspec.field(name="userIds")
    """Ids of the users who may open the share"""


class ShareChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a share; absent members stay as they are."""

    revision: int | Unset = UNSET
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    label: str | Unset = UNSET
    """A title, shown to visitors"""
    password: None | str | Unset = UNSET
    """At least 8 characters; null: no password"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """As `2026-06-21T00:00:00Z`; null: the latest that the policy allows"""
    max_downloads: int | None | Unset = msgspec.field(default=UNSET, name="maxDownloads")
    """Downloads of all visitors together; null: no limit"""
    audience: ShareChangesAudienceType0 | ShareChangesAudienceUsers | Unset = UNSET
    """Who may open it, given the link: `anyone`, `logged-in` users, `members` of the tenant, or the users of `userIds`"""
    notify: bool | Unset = UNSET
    """Messages to the maker: first opening, each drop, last download"""
    closed: bool | Unset = UNSET
    """Close the share, or open it again, such as after a restore"""


class ShareChangesAudienceUsers(msgspec.Struct, frozen=True, kw_only=True):
    """`ShareChangesAudienceUsers` of the API."""

    user_ids: list[str] = msgspec.field(name="userIds")
    """Ids of the users who may open the share"""


class ShareCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Share]
    """The records of the page"""
    included: ShareCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class SharedBundle(msgspec.Struct, frozen=True, kw_only=True):
    """What to download as one archive; without `fileIds`, the whole share."""

    file_ids: list[str] | None | Unset = msgspec.field(default=UNSET, name="fileIds")
    """Files, and folders with their content; null: the whole share"""
    name: None | str | Unset = UNSET
    """File name of the archive; `.zip` is appended if missing"""


class SharedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder of a share."""

    id: str
    """Identifies it in paths of this share"""
    name: str
    """With the extension"""
    type_: SharedFileType = msgspec.field(name="type")
    """`file` or `folder`"""
    size: int
    """In bytes; 0 for folders"""
    content_type: None | str = msgspec.field(name="contentType")
    """Media type; null for folders"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""


class SharedFileCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[SharedFile]
    """The records of the page"""
    included: SharedFileCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class SharedWithMe(msgspec.Struct, frozen=True, kw_only=True):
    """A share for the caller."""

    id: str
    """Identifies the share"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant of the file"""
    maker_id: str = msgspec.field(name="makerId")
    """The user who has shared the file"""
    url: None | str
    """The link to open; null if it cannot be read again"""
    kind: SharedWithMeKind
    """`read`: list and download; `preview`: view without download; `drop`: upload without seeing files; `write`: `read` with uploads"""
    label: str
    """The maker's title; empty if there is a password"""
    needs_password: bool = msgspec.field(name="needsPassword")
    """Whether the link asks for a password"""
    name: None | str
    """Null if there is a password"""
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    """When it ends; null: never"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""


class SharedWithMeCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[SharedWithMe]
    """The records of the page"""
    included: SharedWithMeCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """The server."""

    name: str
    """Always `Strongroom`: the name of the software"""
    version: str
    """The version of the server"""
    links: Links
    """The URLs of other pages; those that this server does not have are absent."""


class StepUp(msgspec.Struct, frozen=True, kw_only=True):
    """A proof: the answer to a challenge, a code sent to a contact, or the current password."""

    challenge: ChallengeAnswer | None | Unset = UNSET
    """The answer of a second factor, in the second request"""
    verification_code: None | Unset | VerificationCode = msgspec.field(
        default=UNSET, name="verificationCode"
    )
    """A code for `bind`, sent to a contact; for callers without a second factor"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """For callers without a second factor"""


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """How hard a password is to guess."""

    strength: StrengthStrength
    """By an estimate of the guesses that an attacker needs"""


class Successor(msgspec.Struct, frozen=True, kw_only=True):
    """The member who takes over."""

    to_user_id: str = msgspec.field(name="toUserId")
    """A member of the tenant, other than the present holder"""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of an entity that records refer to."""

    id: str
    """Id of the entity, as in `$ref`"""
    type_: str = msgspec.field(name="type")
    """What the entity is, such as `user`"""
    name: str
    """What people see of the entity"""


class Suspension(msgspec.Struct, frozen=True, kw_only=True):
    """A suspension. Without an end, it lasts until the user is reinstated."""

    reason: None | str | Unset = UNSET
    """Only administrators see it"""
    until: datetime.datetime | None | Unset = UNSET
    """When the user is reinstated automatically; `null`: only an administrator reinstates the user"""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The object of an action."""

    type_: None | str = msgspec.field(name="type")
    """Such as `user` or `tenant`; `null`: the action has no type of objects"""
    id: str
    """Id of an object of the type"""


class TemporaryPassword(msgspec.Struct, frozen=True, kw_only=True):
    """A temporary password, which is shown only now."""

    password: str
    """To be passed to the user; the login with it requires a new one"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When the password is no longer accepted"""


class Tenant(msgspec.Struct, frozen=True, kw_only=True):
    """A tenant: a space for files with members and a quota. Sizes are in bytes."""

    id: str
    """Identifies the tenant in paths"""
    name: str
    """Not unique"""
    used_bytes: int = msgspec.field(name="usedBytes")
    """Bytes of all files, with those in the trash and earlier contents"""
    quota_bytes: int | None = msgspec.field(name="quotaBytes")
    """Most bytes that files may use, here the server's default if the tenant has no quota; null: unlimited"""
    assurance: Assurance | None
    """null: any login"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""


class TenantChanges(msgspec.Struct, frozen=True, kw_only=True):
    """At least one of `name`, `quotaBytes` and `assurance`; absent members stay as they are."""

    name: str | Unset = UNSET
    """Replaces the present name"""
    quota_bytes: int | None | Unset = msgspec.field(default=UNSET, name="quotaBytes")
    """Only for server administrators; null: the configured default"""
    assurance: Assurance | None | Unset = UNSET
    """null: any login; the caller's own login must meet it"""
    revision: int | None | Unset = UNSET
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""


class TenantCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Tenant]
    """The records of the page"""
    included: TenantCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class TotpCode(msgspec.Struct, frozen=True, kw_only=True):
    """A code of the app."""

    code: str
    """The digits that the app shows now"""


class TotpConfirmed(msgspec.Struct, frozen=True, kw_only=True):
    """The recovery codes."""

    recovery_codes: list[str] = msgspec.field(name="recoveryCodes")
    """Shown only once; empty for a user who has a sheet of them already"""


class TotpSecret(msgspec.Struct, frozen=True, kw_only=True):
    """What the app needs, each alone."""

    secret: str
    """In base 32"""
    uri: str
    """With the scheme `otpauth`"""
    qr: str
    """The URI as a QR code in SVG"""


class Transferred(msgspec.Struct, frozen=True, kw_only=True):
    """How much was transferred."""

    nodes: int
    """Number of files and folders with the new owner"""
    grants: int
    """Number of grants that were transferred"""


class TrashedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder in the trash."""

    id: str
    """Identifies it in the trash, and after its restoration"""
    type_: TrashedFileType = msgspec.field(name="type")
    """`file` or `folder`"""
    name: str
    """The name that it had"""
    parent_id: None | str = msgspec.field(name="parentId")
    """The folder that it was in, which may be gone; null: the top level"""
    tenant_id: str = msgspec.field(name="tenantId")
    """The tenant whose quota it still counts in"""
    size: int
    """In bytes, with everything in a folder"""
    content_type: None | str = msgspec.field(name="contentType")
    """Media type; null for folders"""
    owner: Reference
    """A reference to a related entity, whose summary is in `included` under its id."""
    trashed_by: Reference = msgspec.field(name="trashedBy")
    """A reference to a related entity, whose summary is in `included` under its id."""
    trashed_at: datetime.datetime = msgspec.field(name="trashedAt")
    """When it was deleted"""
    purge_at: datetime.datetime = msgspec.field(name="purgeAt")
    """When it is due to be removed permanently"""


class TrashedFileCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[TrashedFile]
    """The records of the page"""
    included: TrashedFileCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """A resumable upload."""

    id: str
    """Identifies the upload in paths; not the id of the file"""
    name: str
    """Name of the file that is created"""
    parent_id: None | str = msgspec.field(name="parentId")
    """The folder of the file; null: the top level"""
    size: int
    """In bytes"""
    offset: int
    """Number of stored bytes"""
    file_id: None | str = msgspec.field(name="fileId")
    """The created file; null until the upload is complete"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """When an unfinished upload is removed"""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Usage and quota of a tenant, in bytes."""

    used_bytes: int = msgspec.field(name="usedBytes")
    """The sum of liveBytes, trashBytes and versionBytes"""
    live_bytes: int = msgspec.field(name="liveBytes")
    """Files that are not deleted"""
    trash_bytes: int = msgspec.field(name="trashBytes")
    """Files in the trash"""
    version_bytes: int = msgspec.field(name="versionBytes")
    """Earlier contents of files, also of files in the trash"""
    held_bytes: int = msgspec.field(name="heldBytes")
    """Files under a hold and their earlier contents, part of the above"""
    reserved_bytes: int = msgspec.field(name="reservedBytes")
    """Reserved for open resumable and direct uploads"""
    quota_bytes: int | None = msgspec.field(name="quotaBytes")
    """null: unlimited"""
    free_bytes: int | None = msgspec.field(name="freeBytes")
    """null: unlimited"""


class User(msgspec.Struct, frozen=True, kw_only=True):
    """A user as the user and administrators see it."""

    id: str
    """Id of the user, which never changes"""
    type_: UserType = msgspec.field(name="type")
    """The role on the whole server; `SERVICE` is the account of a machine"""
    status: UserStatus
    """A suspended user cannot log in, and all tokens and access keys are refused"""
    name: str
    """What other users see; it need not be unique"""
    email: None | str
    """The address to log in with; `null`: the user has none"""
    mobile: None | str
    """The number to log in with, such as `+8613800138000`; `null`: the user has none"""
    username: None | str
    """The name to log in with; `null`: the user has none"""
    locale: None | str
    """BCP 47"""
    timezone: None | str
    """As `Asia/Shanghai`"""
    email_verified: bool = msgspec.field(name="emailVerified")
    """Whether a code, or an administrator, has verified it"""
    mobile_verified: bool = msgspec.field(name="mobileVerified")
    """Whether a code, or an administrator, has verified it"""
    has_password: bool = msgspec.field(name="hasPassword")
    """Whether the user can log in with a password"""
    password_change_required: bool = msgspec.field(name="passwordChangeRequired")
    """Whether the next login by the password must change it"""
    external_id: None | str = msgspec.field(name="externalId")
    """The id in another system"""
    last_login_at: datetime.datetime | None = msgspec.field(name="lastLoginAt")
    """When the user last logged in; `null`: never"""
    suspended_until: datetime.datetime | None = msgspec.field(name="suspendedUntil")
    """When a suspension ends, if it has an end"""
    deletion_due_at: datetime.datetime | None = msgspec.field(name="deletionDueAt")
    """When the user will be deleted, unless the user cancels it"""
    revision: int
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    """When the record last changed, in UTC"""
    suspension_reason: None | str | Unset = msgspec.field(default=UNSET, name="suspensionReason")
    """Only for administrators"""


class UserChange(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a user. A revision, here or in If-Match, detects concurrent changes."""

    name: str | Unset = UNSET
    """What other users see; it need not be unique"""
    locale: None | str | Unset = UNSET
    """Language of messages that are not caused by a request of the user"""
    timezone: None | str | Unset = UNSET
    """Time zone of IANA of the times in messages, such as `Asia/Shanghai`"""
    type_: UserChangeType | Unset = msgspec.field(default=UNSET, name="type")
    """The role on the whole server; only for administrators, and never `SERVICE`"""
    status: UserChangeStatus | Unset = UNSET
    """Suspends or reinstates the user; only for administrators"""
    external_id: None | str | Unset = msgspec.field(default=UNSET, name="externalId")
    """The id in another system; only for administrators"""
    revision: int | Unset = UNSET
    """Number of the record's state, which grows with each change. A change that states another number than the current one fails with 409"""


class UserCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[User]
    """The records of the page"""
    included: UserCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class UserImport(msgspec.Struct, frozen=True, kw_only=True):
    """An import of users. The counts are of lines."""

    id: str
    """Id of the import, for its progress and its errors"""
    state: UserImportState
    """How far it is. `revoked`: the administrator has lost the right to import users"""
    dry_run: bool = msgspec.field(name="dryRun")
    """Whether lines are only checked, and no user changes"""
    on_conflict: str = msgspec.field(name="onConflict")
    """What happens to a line whose user exists"""
    events: bool
    """Whether each new user makes an event"""
    lines: int
    """All lines, also empty ones"""
    read: int
    """The lines with users that were processed"""
    created: int
    """Lines that made a user"""
    updated: int
    """Lines that changed an existing user"""
    skipped: int
    """Lines without effect, because their user exists"""
    failed: int
    """Lines that were refused; the list of errors has the reasons"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    """When the record was created, in UTC"""
    finished_at: datetime.datetime | None = msgspec.field(name="finishedAt")
    """When it ended, in whatever way; `null`: it has not ended"""


class UserImportCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[UserImport]
    """The records of the page"""
    included: UserImportCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


class Username(msgspec.Struct, frozen=True, kw_only=True):
    """A login username."""

    username: str
    """The new username, which no other user may have"""
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""


class VerificationCode(msgspec.Struct, frozen=True, kw_only=True):
    """A code from a message, with its id."""

    id: str
    """`id` of the response to the request for the code"""
    code: str
    """The code in the message, for one use"""


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier content of a file, which another one has replaced."""

    number: int
    """Of the file, never used again"""
    size: int
    """In bytes"""
    content_type: str = msgspec.field(name="contentType")
    """Media type of this content"""
    checksum: str
    """`sha256:` and hexadecimal digits"""
    scan: VersionScan
    """Scan state of the content"""
    label: None | str
    """A text to find it by; null: none"""
    keep: bool
    """Whether it is kept whatever its age"""
    modified_at: datetime.datetime = msgspec.field(name="modifiedAt")
    """`updatedAt` of the file with this content"""
    archived_at: datetime.datetime = msgspec.field(name="archivedAt")
    """When the file got other content"""
    archived_by: Reference = msgspec.field(name="archivedBy")
    """A reference to a related entity, whose summary is in `included` under its id."""


class VersionChanges(msgspec.Struct, frozen=True, kw_only=True):
    """At least one of `label` and `keep`; absent members stay as they are."""

    label: None | str | Unset = UNSET
    """A text to find it by; null removes it"""
    keep: bool | Unset = UNSET
    """Whether it is kept whatever its age and the number of versions"""


class VersionCollection(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, with the summaries of the entities that its records refer to."""

    success: bool
    """Always `true`: an error has a body of its own"""
    meta: Meta
    """Paging information."""
    data: list[Version]
    """The records of the page"""
    included: VersionCollectionIncluded
    """By id: a summary of each entity that a `$ref` of a record names"""


AccessKeyCollectionIncluded: TypeAlias = dict[str, Summary]

AuditEventCollectionIncluded: TypeAlias = dict[str, Summary]

AuditEventDetails: TypeAlias = dict[str, str]

AuthorizationCollectionIncluded: TypeAlias = dict[str, Summary]

AuthorizeDeviceBody: TypeAlias = dict[str, Any]

AuthorizeDeviceResponse200: TypeAlias = dict[str, Any]

AuthorizeDeviceResponse400: TypeAlias = dict[str, Any]

AuthorizeDeviceResponse401: TypeAlias = dict[str, Any]

BoundCredentialCollectionIncluded: TypeAlias = dict[str, Summary]

ChallengeAnswer: TypeAlias = dict[str, Any]
"""Members: `id`, and others."""

ChangeCollectionIncluded: TypeAlias = dict[str, Summary]

ChangeMetadataBody: TypeAlias = dict[str, Any]

ChangeMetadataResponse200: TypeAlias = dict[str, Any]

ChangeServerMetadataBody: TypeAlias = dict[str, Any]

ChangeServerMetadataResponse200: TypeAlias = dict[str, Any]

ClientCollectionIncluded: TypeAlias = dict[str, Summary]

ConfirmedFactorShown: TypeAlias = dict[str, Any]

DeliveryCollectionIncluded: TypeAlias = dict[str, Summary]

DirectUploadHeaders: TypeAlias = dict[str, str]

DueAnswerAnswerType1: TypeAlias = dict[str, Any]

EndpointCollectionIncluded: TypeAlias = dict[str, Summary]

EnrolledTokensShown: TypeAlias = dict[str, Any]

EnrolmentShown: TypeAlias = dict[str, Any]

ErrorChallenge: TypeAlias = dict[str, Any]

ErrorConsent: TypeAlias = dict[str, Any]

ErrorEnrolment: TypeAlias = dict[str, Any]

FactorAnswerAnswerType1: TypeAlias = dict[str, Any]

FactorCollectionIncluded: TypeAlias = dict[str, Summary]

FactorsIncluded: TypeAlias = dict[str, Summary]

FactorsShown: TypeAlias = dict[str, Any]

FactorStateCollectionIncluded: TypeAlias = dict[str, Summary]

FileEventCollectionIncluded: TypeAlias = dict[str, Summary]

GetMetadataResponse200: TypeAlias = dict[str, Any]

GetServerMetadataResponse200: TypeAlias = dict[str, Any]

GetUserInfoByFormResponse200: TypeAlias = dict[str, Any]

GetUserInfoByFormResponse401: TypeAlias = dict[str, Any]

GetUserInfoByFormResponse403: TypeAlias = dict[str, Any]

GetUserInfoResponse200: TypeAlias = dict[str, Any]

GetUserInfoResponse401: TypeAlias = dict[str, Any]

GetUserInfoResponse403: TypeAlias = dict[str, Any]

GrantCollectionIncluded: TypeAlias = dict[str, Summary]

GroupCollectionIncluded: TypeAlias = dict[str, Summary]

GroupGrantCollectionIncluded: TypeAlias = dict[str, Summary]

GroupMemberCollectionIncluded: TypeAlias = dict[str, Summary]

HoldCollectionIncluded: TypeAlias = dict[str, Summary]

IntrospectTokenBody: TypeAlias = dict[str, Any]

IntrospectTokenResponse200: TypeAlias = dict[str, Any]

IntrospectTokenResponse400: TypeAlias = dict[str, Any]

IntrospectTokenResponse401: TypeAlias = dict[str, Any]

InvitationCollectionIncluded: TypeAlias = dict[str, Summary]

IssuedCaptcha: TypeAlias = dict[str, Any]
"""Members: `id`, `kind`, `expiresAt`, `question`, `image`, `audio`, and others."""

IssuedChallengeChallenge: TypeAlias = dict[str, Any]

IssueTokensBody: TypeAlias = dict[str, Any]

IssueTokensResponse200: TypeAlias = dict[str, Any]

IssueTokensResponse400: TypeAlias = dict[str, Any]

IssueTokensResponse401: TypeAlias = dict[str, Any]

JwkSetKeysItem: TypeAlias = dict[str, Any]

LockCollectionIncluded: TypeAlias = dict[str, Summary]

LoginProviderCollectionIncluded: TypeAlias = dict[str, Summary]

LoginRequestBody: TypeAlias = dict[str, str]

MemberCollectionIncluded: TypeAlias = dict[str, Summary]

NewPasskeyCredential: TypeAlias = dict[str, Any]

NewUserMetadata: TypeAlias = dict[str, Any]

NewUserPasswordHashType0: TypeAlias = dict[str, Any]

NewUserServerMetadata: TypeAlias = dict[str, Any]

NodeCollectionIncluded: TypeAlias = dict[str, Summary]

OpeningCollectionIncluded: TypeAlias = dict[str, Summary]

PasskeyChallengePublicKey: TypeAlias = dict[str, Any]

PushAuthorizationBody: TypeAlias = dict[str, Any]

PushAuthorizationResponse201: TypeAlias = dict[str, Any]

PushAuthorizationResponse400: TypeAlias = dict[str, Any]

PushAuthorizationResponse401: TypeAlias = dict[str, Any]

QuarantinedFileCollectionIncluded: TypeAlias = dict[str, Summary]

ReadyNotes: TypeAlias = dict[str, str]

ReceivedInvitationCollectionIncluded: TypeAlias = dict[str, Summary]

RegisterOwnClientBody: TypeAlias = dict[str, Any]

RegisterOwnClientResponse201: TypeAlias = dict[str, Any]

RegisterOwnClientResponse400: TypeAlias = dict[str, Any]

RegisterOwnClientResponse401: TypeAlias = dict[str, Any]

RegisterOwnClientResponse403: TypeAlias = dict[str, Any]

RegisterOwnClientResponse503: TypeAlias = dict[str, Any]

RemovedFactorShown: TypeAlias = dict[str, Any]

RenamedFactorShown: TypeAlias = dict[str, Any]

Revocation: TypeAlias = dict[str, Any]
"""Members: `token`, `token_type_hint`, and others."""

RevokeTokensBody: TypeAlias = dict[str, Any]

RevokeTokensResponse200: TypeAlias = dict[str, Any]

RevokeTokensResponse400: TypeAlias = dict[str, Any]

RevokeTokensResponse401: TypeAlias = dict[str, Any]

ServiceAccountCollectionIncluded: TypeAlias = dict[str, Summary]

ShareCollectionIncluded: TypeAlias = dict[str, Summary]

SharedFileCollectionIncluded: TypeAlias = dict[str, Summary]

SharedWithMeCollectionIncluded: TypeAlias = dict[str, Summary]

TenantCollectionIncluded: TypeAlias = dict[str, Summary]

TrashedFileCollectionIncluded: TypeAlias = dict[str, Summary]

UserCollectionIncluded: TypeAlias = dict[str, Summary]

UserImportCollectionIncluded: TypeAlias = dict[str, Summary]

VersionCollectionIncluded: TypeAlias = dict[str, Summary]
