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
    GetFileIncludeType0: TypeAlias = Literal["path"]
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
    ListFilesIncludeType0: TypeAlias = Literal["path"]
    ListFilesInFolderIncludeType0: TypeAlias = Literal["path"]
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
    QuarantinedFileScan: TypeAlias = Literal["infected", "rejected"]
    RenameFileOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    RestorableContactKind: TypeAlias = Literal["email", "mobile"]
    RestorationOnConflict: TypeAlias = Literal["fail", "rename", "replace"]
    RetentionMode: TypeAlias = Literal["compliance", "governance"]
    RoleRole: TypeAlias = Literal["admin", "member", "records"]
    SearchFilesIncludeType0: TypeAlias = Literal["path"]
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
    """`AcceptedInvitation` of the API."""

    tenant_id: str = msgspec.field(name="tenantId")
    role: str


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """`Access` of the API."""

    user_id: str = msgspec.field(name="userId")
    role: AccessRoleType0 | None
    """Role in the tenant; null for a non-member"""
    permission: AccessPermission
    grants: list[AccessReason]
    """The nearest first"""


class AccessKey(msgspec.Struct, frozen=True, kw_only=True):
    """`AccessKey` of the API."""

    id: str
    name: str
    scopes: list[AccessKeyScopesItem]
    tenant_id: None | str = msgspec.field(name="tenantId")
    file_id: None | str = msgspec.field(name="fileId")
    addresses: list[str]
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    last_used_at: datetime.datetime | None = msgspec.field(name="lastUsedAt")
    """To within an hour"""
    last_used_from: None | str = msgspec.field(name="lastUsedFrom")
    """The client's address"""


class AccessKeyCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`AccessKeyCollection` of the API."""

    success: bool
    meta: Meta
    data: list[AccessKey]
    included: AccessKeyCollectionIncluded


class AccessReason(msgspec.Struct, frozen=True, kw_only=True):
    """`AccessReason` of the API."""

    file_id: str = msgspec.field(name="fileId")
    file_name: None | str = msgspec.field(name="fileName")
    """Null if the caller cannot see it"""
    permission: AccessReasonPermission
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    in_force: bool = msgspec.field(name="inForce")
    group_id: None | str = msgspec.field(name="groupId")
    """Null for the user's own grant"""
    group_name: None | str = msgspec.field(name="groupName")


class Alive(msgspec.Struct, frozen=True, kw_only=True):
    """`Alive` of the API."""

    status: str


class Assurance(msgspec.Struct, frozen=True, kw_only=True):
    """`Assurance` of the API."""

    acr: AssuranceAcrType0 | None | Unset = UNSET
    """The least acr; null: any. Each value includes those before it"""
    max_age_seconds: int | None | Unset = msgspec.field(default=UNSET, name="maxAgeSeconds")
    """The longest time since the last proof of the login; null: any"""


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`AuditEvent` of the API."""

    id: str
    """The sequence number, counted from 1"""
    at: datetime.datetime
    action: str
    outcome: AuditEventOutcome
    actor: None | Reference
    """Null if the actor is unknown"""
    target: None | Target
    address: None | str
    user_agent: None | str = msgspec.field(name="userAgent")
    request_id: None | str = msgspec.field(name="requestId")
    details: AuditEventDetails


class AuditEventCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`AuditEventCollection` of the API."""

    success: bool
    meta: Meta
    data: list[AuditEvent]
    included: AuditEventCollectionIncluded


class Authorization(msgspec.Struct, frozen=True, kw_only=True):
    """`Authorization` of the API."""

    id: str
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
    user_agent: str = msgspec.field(name="userAgent")
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    last_seen_at: datetime.datetime = msgspec.field(name="lastSeenAt")
    """To within a minute"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    """If not renewed"""
    actor: None | Reference
    """The administrator who impersonates the user"""
    current: bool
    """Whether this request uses it"""


class AuthorizationCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`AuthorizationCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Authorization]
    included: AuthorizationCollectionIncluded


class Availability(msgspec.Struct, frozen=True, kw_only=True):
    """`Availability` of the API."""

    available: bool


class BatchError(msgspec.Struct, frozen=True, kw_only=True):
    """`BatchError` of the API."""

    code: str
    """Stable and machine-readable"""
    message: str
    """For developers; may change"""
    details: list[Detail]


class BatchItem(msgspec.Struct, frozen=True, kw_only=True):
    """`BatchItem` of the API."""

    operation: BatchItemOperation
    file_id: str = msgspec.field(name="fileId")
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
    """Of grant"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """Of grant; null for a permanent grant"""


class BatchResult(msgspec.Struct, frozen=True, kw_only=True):
    """`BatchResult` of the API."""

    file_id: str = msgspec.field(name="fileId")
    """As in the item"""
    status: int
    """The HTTP status of the same change alone"""
    file: Node | None
    """The moved, new or restored file or folder"""
    error: BatchError | None


class BatchResults(msgspec.Struct, frozen=True, kw_only=True):
    """`BatchResults` of the API."""

    results: list[BatchResult]


class BoundCredential(msgspec.Struct, frozen=True, kw_only=True):
    """`BoundCredential` of the API."""

    kind: str
    value: str
    verified: bool
    """Whether a proof, or an administrator, has verified it"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")


class BoundCredentialCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`BoundCredentialCollection` of the API."""

    success: bool
    meta: Meta
    data: list[BoundCredential]
    included: BoundCredentialCollectionIncluded


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """`Bundle` of the API."""

    file_ids: list[str] = msgspec.field(name="fileIds")
    """Files, and folders with their content"""
    name: None | str | Unset = UNSET
    """File name of the archive; `.zip` is appended if missing"""


class BusinessFile(msgspec.Struct, frozen=True, kw_only=True):
    """`BusinessFile` of the API."""

    file_name: str = msgspec.field(name="fileName")
    """Generated by the server"""
    url: str
    size: int
    """Stored size in bytes"""
    content_type: str = msgspec.field(name="contentType")
    """Detected from the content"""
    width: int | Unset = UNSET
    """In pixels; only for pictures"""
    height: int | Unset = UNSET
    """In pixels; only for pictures"""


class Captcha(msgspec.Struct, frozen=True, kw_only=True):
    """`Captcha` of the API."""

    id: str
    answer: str


class CaptchaAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`CaptchaAnswer` of the API."""

    id: str
    answer: str


class CaptchaRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`CaptchaRequest` of the API."""

    pass


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """`Change` of the API."""

    sequence: int
    type_: str = msgspec.field(name="type")
    file_id: str = msgspec.field(name="fileId")
    parent_id: None | str | Unset = msgspec.field(default=UNSET, name="parentId")
    previous_parent_id: None | str | Unset = msgspec.field(default=UNSET, name="previousParentId")
    """Of a move, if the caller can see the folder"""
    name: str | Unset = UNSET
    revision: int | Unset = UNSET
    actor: Reference | Unset = UNSET
    on_behalf_of: Reference | Unset = msgspec.field(default=UNSET, name="onBehalfOf")
    occurred_at: datetime.datetime | Unset = msgspec.field(default=UNSET, name="occurredAt")


class ChangeCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`ChangeCollection` of the API."""

    success: bool
    meta: ChangeMeta
    data: list[Change]
    included: ChangeCollectionIncluded


class ChangeMeta(msgspec.Struct, frozen=True, kw_only=True):
    """`ChangeMeta` of the API."""

    page_size: int = msgspec.field(name="pageSize")
    cursor: int
    """The cursor of the next page"""
    has_more: bool = msgspec.field(name="hasMore")


class CodeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`CodeRequest` of the API."""

    recipient: str
    purpose: CodeRequestPurpose
    captcha: CaptchaAnswer | None | Unset = UNSET
    invitation: None | str | Unset = UNSET
    """For `register`, if only invited users can: the invitation's secret"""
    link: bool | Unset = UNSET
    """For a login by e-mail: also send a link, which counts on this device only. Ignored for others, and on servers without login pages"""


class ConfirmedFactor(msgspec.Struct, frozen=True, kw_only=True):
    """`ConfirmedFactor` of the API."""

    factor: Factor
    shown: ConfirmedFactorShown
    """Such as `recoveryCodes`"""


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """`Consent` of the API."""

    id: str
    accepted_terms: str = msgspec.field(name="acceptedTerms")


class Contact(msgspec.Struct, frozen=True, kw_only=True):
    """`Contact` of the API."""

    value: str
    verified: bool | Unset = UNSET
    """Whether the contact counts as proven"""


class ContactLink(msgspec.Struct, frozen=True, kw_only=True):
    """`ContactLink` of the API."""

    token: str


class ContactRestoration(msgspec.Struct, frozen=True, kw_only=True):
    """`ContactRestoration` of the API."""

    token: str
    new_password: str = msgspec.field(name="newPassword")
    """With an uppercase letter, a lowercase letter and a digit"""


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """`Copy` of the API."""

    parent_id: None | str = msgspec.field(name="parentId")
    """The folder; null is the top level"""
    name: None | str | Unset = UNSET


class CreatedKey(msgspec.Struct, frozen=True, kw_only=True):
    """`CreatedKey` of the API."""

    id: str
    name: str
    scopes: list[CreatedKeyScopesItem]
    tenant_id: None | str = msgspec.field(name="tenantId")
    file_id: None | str = msgspec.field(name="fileId")
    addresses: list[str]
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    last_used_at: datetime.datetime | None = msgspec.field(name="lastUsedAt")
    """To within an hour"""
    last_used_from: None | str = msgspec.field(name="lastUsedFrom")
    """The client's address"""
    key: str
    """Send it as `Authorization: Bearer`"""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """`Delivery` of the API."""

    id: str
    event_id: str = msgspec.field(name="eventId")
    """The `webhook-id`"""
    event_type: str = msgspec.field(name="eventType")
    stream: str
    sequence: int
    outcome: str
    attempt: int
    """How often it was attempted"""
    status: int | None
    """The HTTP status of the answer"""
    error: None | str
    answer: None | str
    """The first 1024 bytes of the answer"""
    duration_ms: int | None = msgspec.field(name="durationMs")
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    attempted_at: datetime.datetime | None = msgspec.field(name="attemptedAt")
    next_attempt_at: datetime.datetime | None = msgspec.field(name="nextAttemptAt")


class DeliveryCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`DeliveryCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Delivery]
    included: DeliveryCollectionIncluded


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """`Description` of the API."""

    id: str
    kind: DescriptionKind
    needs_password: bool = msgspec.field(name="needsPassword")
    expired: bool
    label: str | Unset = UNSET
    name: str | Unset = UNSET
    type_: DescriptionType | Unset = msgspec.field(default=UNSET, name="type")
    file_id: str | Unset = msgspec.field(default=UNSET, name="fileId")
    size: int | Unset = UNSET
    content_type: None | str | Unset = msgspec.field(default=UNSET, name="contentType")
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    remaining_downloads: int | None | Unset = msgspec.field(default=UNSET, name="remainingDownloads")
    drop: Drop | Unset = UNSET
    remaining_files: int | None | Unset = msgspec.field(default=UNSET, name="remainingFiles")
    remaining_bytes: int | None | Unset = msgspec.field(default=UNSET, name="remainingBytes")


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """`Detail` of the API."""

    field: str
    code: str
    message: str


class Directory(msgspec.Struct, frozen=True, kw_only=True):
    """`Directory` of the API."""

    parent_id: None | str = msgspec.field(name="parentId")
    """The folder; null is the top level"""
    name: None | str | Unset = UNSET
    revision: int | None | Unset = UNSET


class DirectUpload(msgspec.Struct, frozen=True, kw_only=True):
    """`DirectUpload` of the API."""

    upload_id: str = msgspec.field(name="uploadId")
    method: str
    url: str
    headers: DirectUploadHeaders
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """`Done` of the API."""

    success: bool


class Drop(msgspec.Struct, frozen=True, kw_only=True):
    """`Drop` of the API."""

    max_bytes: int | None | Unset = msgspec.field(default=UNSET, name="maxBytes")
    """All files together"""
    max_files: int | None | Unset = msgspec.field(default=UNSET, name="maxFiles")
    allowed_types: list[str] | Unset = msgspec.field(default=UNSET, name="allowedTypes")
    """Media types such as `image/*`; empty: all"""
    require_name: bool | Unset = msgspec.field(default=UNSET, name="requireName")
    layout: DropLayout | Unset = UNSET
    """`by-visitor`: a folder for each name of a sender"""


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    """`Dropped` of the API."""

    name: str
    size: int
    id: str | Unset = UNSET


class DueAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`DueAnswer` of the API."""

    id: str
    """Of `enrolment` in the response to the login"""
    enrolment_id: str = msgspec.field(name="enrolmentId")
    """`id` of the begun enrolment"""
    answer: DueAnswerAnswerType1 | None | str | Unset = UNSET
    """Such as the code of `totp`"""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """`Endpoint` of the API."""

    id: str
    tenant_id: None | str = msgspec.field(name="tenantId")
    owner_id: str = msgspec.field(name="ownerId")
    """The administrator whose rights the endpoint has"""
    url: str
    event_types: list[str] = msgspec.field(name="eventTypes")
    description: str
    ordered: bool
    status: str
    reason: None | str
    """Why the server disabled it"""
    failing_since: datetime.datetime | None = msgspec.field(name="failingSince")
    revision: int
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")


class EndpointChanges(msgspec.Struct, frozen=True, kw_only=True):
    """`EndpointChanges` of the API."""

    revision: int
    url: str | Unset = UNSET
    event_types: list[str] | Unset = msgspec.field(default=UNSET, name="eventTypes")
    description: str | Unset = UNSET
    ordered: bool | Unset = UNSET
    status: EndpointChangesStatus | Unset = UNSET
    """`enabled` also resumes an endpoint that was disabled by failures"""


class EndpointCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`EndpointCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Endpoint]
    included: EndpointCollectionIncluded


class EnrolledTokens(msgspec.Struct, frozen=True, kw_only=True):
    """`EnrolledTokens` of the API."""

    access_token: str = msgspec.field(name="accessToken")
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    refresh_token: str = msgspec.field(name="refreshToken")
    refresh_expires_at: datetime.datetime = msgspec.field(name="refreshExpiresAt")
    user: LoggedInUser
    factor: Factor
    shown: EnrolledTokensShown
    """What the client receives only now"""
    second_factor_due_at: datetime.datetime | Unset = msgspec.field(
        default=UNSET, name="secondFactorDueAt"
    )
    """Only if the user must enrol a second factor: until when logins need none"""


class Enrolment(msgspec.Struct, frozen=True, kw_only=True):
    """`Enrolment` of the API."""

    id: str
    kind: str
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    shown: EnrolmentShown
    """What the user needs to answer"""


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """`Error` of the API."""

    error: ErrorMember
    challenge: ErrorChallenge | Unset = UNSET
    """Only with `error.second-factor-required`: `id`, `methods`, `expiresAt`"""
    enrolment: ErrorEnrolment | Unset = UNSET
    """Only with `error.second-factor-enrolment-required`"""
    consent: ErrorConsent | Unset = UNSET
    """Only with `error.terms-not-accepted`: `version`, `termsUrl`, `privacyUrl`, and `id` and `expiresAt` if a login can continue"""
    hold: HoldReason | Unset = UNSET
    retained_until: datetime.datetime | Unset = msgspec.field(default=UNSET, name="retainedUntil")
    """Only with `error.retained`"""


class ErrorMember(msgspec.Struct, frozen=True, kw_only=True):
    """`ErrorMember` of the API."""

    code: str
    """Stable and machine-readable"""
    message: str
    """For developers; may change"""
    details: list[Detail]
    request_id: str = msgspec.field(name="requestId")


class Factor(msgspec.Struct, frozen=True, kw_only=True):
    """`Factor` of the API."""

    id: str
    kind: str
    """As in `methods` of a challenge"""
    name: str
    is_backup: bool = msgspec.field(name="isBackup")
    """Whether it only replaces others"""
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    last_used_at: datetime.datetime | None = msgspec.field(name="lastUsedAt")


class FactorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`FactorAnswer` of the API."""

    answer: FactorAnswerAnswerType1 | None | str | Unset = UNSET
    """Such as the code of `totp`"""


class FactorCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`FactorCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Factor]
    included: FactorCollectionIncluded


class FactorName(msgspec.Struct, frozen=True, kw_only=True):
    """`FactorName` of the API."""

    name: str


class Factors(msgspec.Struct, frozen=True, kw_only=True):
    """`Factors` of the API."""

    success: bool
    meta: Meta
    data: list[Factor]
    included: FactorsIncluded
    shown: FactorsShown
    """By kind: what the user's devices need, such as `passkey.rpId`"""


class FactorState(msgspec.Struct, frozen=True, kw_only=True):
    """`FactorState` of the API."""

    user: Reference
    type_: str = msgspec.field(name="type")
    """USER or ADMIN"""
    factors: list[str]
    """Kinds, once each"""
    is_required: bool = msgspec.field(name="isRequired")
    due_at: datetime.datetime | None = msgspec.field(name="dueAt")
    """The end of the grace period, if it has begun"""


class FactorStateCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`FactorStateCollection` of the API."""

    success: bool
    meta: Meta
    data: list[FactorState]
    included: FactorStateCollectionIncluded


class FileEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`FileEvent` of the API."""

    id: str
    at: datetime.datetime
    tenant_id: str = msgspec.field(name="tenantId")
    node_id: str = msgspec.field(name="nodeId")
    action: FileEventAction
    actor: Reference
    on_behalf_of: None | Reference = msgspec.field(name="onBehalfOf")
    """The impersonated user; the actor is then an administrator"""
    plugin: None | str
    """The plugin that used the rights of the actor for another person, such as `share_links` for a visitor; null: the actor acted"""
    address: None | str
    """The client's address"""
    name: str
    parent_id: None | str = msgspec.field(name="parentId")
    size: int
    """In bytes; 0 for folders"""


class FileEventCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`FileEventCollection` of the API."""

    success: bool
    meta: Meta
    data: list[FileEvent]
    included: FileEventCollectionIncluded


class FilesBatch(msgspec.Struct, frozen=True, kw_only=True):
    """`FilesBatch` of the API."""

    items: list[BatchItem]
    atomic: bool | Unset = UNSET
    """Whether an item that fails undoes all others, too"""


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """`Grant` of the API."""

    file_id: str = msgspec.field(name="fileId")
    owner_id: str = msgspec.field(name="ownerId")
    owner: Reference
    permission: GrantPermission
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    granted_by: None | Reference = msgspec.field(name="grantedBy")
    created_at: datetime.datetime = msgspec.field(name="createdAt")


class GrantCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`GrantCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Grant]
    included: GrantCollectionIncluded


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """`Group` of the API."""

    id: str
    tenant_id: str = msgspec.field(name="tenantId")
    name: str
    revision: int
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")


class GroupCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`GroupCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Group]
    included: GroupCollectionIncluded


class GroupGrant(msgspec.Struct, frozen=True, kw_only=True):
    """`GroupGrant` of the API."""

    file_id: str = msgspec.field(name="fileId")
    group_id: str = msgspec.field(name="groupId")
    group_name: str = msgspec.field(name="groupName")
    permission: GroupGrantPermission
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    granted_by: None | Reference = msgspec.field(name="grantedBy")
    created_at: datetime.datetime = msgspec.field(name="createdAt")


class GroupGrantCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`GroupGrantCollection` of the API."""

    success: bool
    meta: Meta
    data: list[GroupGrant]
    included: GroupGrantCollectionIncluded


class GroupMember(msgspec.Struct, frozen=True, kw_only=True):
    """`GroupMember` of the API."""

    user: Reference
    added_by: None | Reference = msgspec.field(name="addedBy")
    created_at: datetime.datetime = msgspec.field(name="createdAt")


class GroupMemberCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`GroupMemberCollection` of the API."""

    success: bool
    meta: Meta
    data: list[GroupMember]
    included: GroupMemberCollectionIncluded


class GroupName(msgspec.Struct, frozen=True, kw_only=True):
    """`GroupName` of the API."""

    name: str
    revision: int | None | Unset = UNSET


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """`Hold` of the API."""

    file_id: str = msgspec.field(name="fileId")
    reason: str
    until: datetime.datetime | None
    placed_by: Reference = msgspec.field(name="placedBy")
    placed_at: datetime.datetime = msgspec.field(name="placedAt")


class HoldCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`HoldCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Hold]
    included: HoldCollectionIncluded


class HoldReason(msgspec.Struct, frozen=True, kw_only=True):
    """`HoldReason` of the API."""

    reason: str
    until: datetime.datetime | None


class Impersonation(msgspec.Struct, frozen=True, kw_only=True):
    """`Impersonation` of the API."""

    id: str
    """`DELETE /authorizations/{id}` ends it"""
    access_token: str = msgspec.field(name="accessToken")
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    user: LoggedInUser


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """`Invitation` of the API."""

    id: str
    tenant_id: str = msgspec.field(name="tenantId")
    email: None | str
    mobile: None | str
    role: str
    groups: list[str]
    invited_by: Reference = msgspec.field(name="invitedBy")
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class InvitationCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`InvitationCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Invitation]
    included: InvitationCollectionIncluded


class InvitationPreview(msgspec.Struct, frozen=True, kw_only=True):
    """`InvitationPreview` of the API."""

    id: str
    tenant_id: str = msgspec.field(name="tenantId")
    tenant_name: str = msgspec.field(name="tenantName")
    inviter_name: str = msgspec.field(name="inviterName")
    email: None | str
    mobile: None | str
    role: str
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class InvitationSecret(msgspec.Struct, frozen=True, kw_only=True):
    """`InvitationSecret` of the API."""

    secret: str


class IssuedChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """`IssuedChallenge` of the API."""

    challenge: IssuedChallengeChallenge
    """`id`, `methods`, `expiresAt`, and what factors add, such as `publicKey`"""


class IssuedProof(msgspec.Struct, frozen=True, kw_only=True):
    """`IssuedProof` of the API."""

    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class IssuedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """`IssuedTokens` of the API."""

    access_token: str = msgspec.field(name="accessToken")
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    refresh_token: str = msgspec.field(name="refreshToken")
    refresh_expires_at: datetime.datetime = msgspec.field(name="refreshExpiresAt")
    user: LoggedInUser
    second_factor_due_at: datetime.datetime | Unset = msgspec.field(
        default=UNSET, name="secondFactorDueAt"
    )
    """Only if the user must enrol a second factor: until when logins need none"""


class JwkSet(msgspec.Struct, frozen=True, kw_only=True):
    """`JwkSet` of the API."""

    keys: list[JwkSetKeysItem]


class KeyChange(msgspec.Struct, frozen=True, kw_only=True):
    """`KeyChange` of the API."""

    name: str


class LeakedKeys(msgspec.Struct, frozen=True, kw_only=True):
    """`LeakedKeys` of the API."""

    keys: list[str]


class Links(msgspec.Struct, frozen=True, kw_only=True):
    """`Links` of the API."""

    openapi: str
    documentation: str | Unset = UNSET
    setup: str | Unset = UNSET
    """Only while there is no administrator"""


class LoggedInUser(msgspec.Struct, frozen=True, kw_only=True):
    """`LoggedInUser` of the API."""

    id: str
    name: str
    type_: str = msgspec.field(name="type")


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """`Login` of the API."""

    username: str | Unset = UNSET
    """Required without `challenge`"""
    challenge: ChallengeAnswer | None | Unset = UNSET
    password: None | str | Unset = UNSET
    verification_code: None | Unset | VerificationCode = msgspec.field(
        default=UNSET, name="verificationCode"
    )
    captcha: CaptchaAnswer | None | Unset = UNSET
    new_password: None | str | Unset = msgspec.field(default=UNSET, name="newPassword")
    """With `password`: replaces it, if `error.password-change-required`"""
    accepted_terms: None | str | Unset = msgspec.field(default=UNSET, name="acceptedTerms")
    """The version of the terms that a user accepts who is registered by it"""
    consent: Consent | None | Unset = UNSET
    """Alone: continues a login after `error.terms-not-accepted`"""


class LoginCode(msgspec.Struct, frozen=True, kw_only=True):
    """`LoginCode` of the API."""

    code: str
    code_verifier: str = msgspec.field(name="codeVerifier")


class LoginPageTokens(msgspec.Struct, frozen=True, kw_only=True):
    """`LoginPageTokens` of the API."""

    access_token: str = msgspec.field(name="accessToken")
    expires_at: str = msgspec.field(name="expiresAt")
    refresh_token: str = msgspec.field(name="refreshToken")
    refresh_expires_at: str = msgspec.field(name="refreshExpiresAt")
    user: LoginPageUser
    second_factor_due_at: str | Unset = msgspec.field(default=UNSET, name="secondFactorDueAt")
    """Time until which the user must enrol a second factor, if any"""


class LoginPageUser(msgspec.Struct, frozen=True, kw_only=True):
    """`LoginPageUser` of the API."""

    id: str
    name: str
    type_: str = msgspec.field(name="type")


class LoginPasskeyNewChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """`LoginPasskeyNewChallenge` of the API."""

    pass


class LoginProvider(msgspec.Struct, frozen=True, kw_only=True):
    """`LoginProvider` of the API."""

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
    """`LoginProviderCollection` of the API."""

    success: bool
    meta: Meta
    data: list[LoginProvider]
    included: LoginProviderCollectionIncluded


class LoginRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`LoginRequest` of the API."""

    path: str
    """The path of the operation, by POST"""
    body: LoginRequestBody
    """The members of its body that choose the app or provider"""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """`Member` of the API."""

    user: Reference
    role: str
    created_at: datetime.datetime = msgspec.field(name="createdAt")


class MemberCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`MemberCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Member]
    included: MemberCollectionIncluded


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """`Meta` of the API."""

    total_count: int = msgspec.field(name="totalCount")
    page_size: int = msgspec.field(name="pageSize")
    page_number: int = msgspec.field(name="pageNumber")
    page_count: int = msgspec.field(name="pageCount")
    is_first_page: bool = msgspec.field(name="isFirstPage")
    is_last_page: bool = msgspec.field(name="isLastPage")
    has_previous_page: bool = msgspec.field(name="hasPreviousPage")
    previous_page_link: None | str = msgspec.field(name="previousPageLink")
    has_next_page: bool = msgspec.field(name="hasNextPage")
    next_page_link: None | str = msgspec.field(name="nextPageLink")


class NewChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """`NewChallenge` of the API."""

    username: None | str | Unset = UNSET
    """Absent: any user's answer is right"""


class NewDirectUpload(msgspec.Struct, frozen=True, kw_only=True):
    """`NewDirectUpload` of the API."""

    name: str
    size: int
    checksum: str
    """sha256: and 64 hexadecimal digits"""
    parent_id: None | str | Unset = msgspec.field(default=UNSET, name="parentId")
    relative_path: None | str | Unset = msgspec.field(default=UNSET, name="relativePath")
    """Path of the file from the folder, such as `photos/2026/a.jpg`; missing folders are created"""


class NewDueEnrolment(msgspec.Struct, frozen=True, kw_only=True):
    """`NewDueEnrolment` of the API."""

    kind: str
    """Such as `totp` or `recovery-code`"""
    id: str
    """Of `enrolment` in the response to the login"""
    name: str | Unset = UNSET
    """A name for the user's list"""


class NewEmail(msgspec.Struct, frozen=True, kw_only=True):
    """`NewEmail` of the API."""

    email: str
    verification_code: VerificationCode = msgspec.field(name="verificationCode")
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""


class NewEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """`NewEndpoint` of the API."""

    url: str
    """An https URL"""
    event_types: list[str] = msgspec.field(name="eventTypes")
    """Types such as `file.created`, groups such as `file.*`, or `*`"""
    tenant_id: None | str | Unset = msgspec.field(default=UNSET, name="tenantId")
    """The tenant; without it, events of the whole server"""
    description: str | Unset = UNSET
    ordered: bool | Unset = UNSET
    """Whether a failing delivery holds back later ones"""


class NewEndpointWithSecret(msgspec.Struct, frozen=True, kw_only=True):
    """`NewEndpointWithSecret` of the API."""

    secret: str
    """For signatures `v1`"""
    public_key: str = msgspec.field(name="publicKey")
    """For signatures `v1a`"""
    id: str
    tenant_id: None | str = msgspec.field(name="tenantId")
    owner_id: str = msgspec.field(name="ownerId")
    """The administrator whose rights the endpoint has"""
    url: str
    event_types: list[str] = msgspec.field(name="eventTypes")
    description: str
    ordered: bool
    status: str
    reason: None | str
    """Why the server disabled it"""
    failing_since: datetime.datetime | None = msgspec.field(name="failingSince")
    revision: int
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")


class NewFactor(msgspec.Struct, frozen=True, kw_only=True):
    """`NewFactor` of the API."""

    kind: str
    """Such as `totp` or `recovery-code`"""
    name: str | Unset = UNSET
    """A name for the user's list"""


class NewFolder(msgspec.Struct, frozen=True, kw_only=True):
    """`NewFolder` of the API."""

    name: str


class NewGrant(msgspec.Struct, frozen=True, kw_only=True):
    """`NewGrant` of the API."""

    owner_id: str = msgspec.field(name="ownerId")
    permission: NewGrantPermission
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """As `2026-06-21T00:00:00Z`; null for a permanent grant"""


class NewGroup(msgspec.Struct, frozen=True, kw_only=True):
    """`NewGroup` of the API."""

    name: str


class NewGroupGrant(msgspec.Struct, frozen=True, kw_only=True):
    """`NewGroupGrant` of the API."""

    group_id: str = msgspec.field(name="groupId")
    permission: NewGroupGrantPermission
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """As `2026-06-21T00:00:00Z`; null for a permanent grant"""


class NewHold(msgspec.Struct, frozen=True, kw_only=True):
    """`NewHold` of the API."""

    reason: str
    until: datetime.datetime | None | Unset = UNSET
    """When the hold ends; null: when it is released"""


class NewImpersonation(msgspec.Struct, frozen=True, kw_only=True):
    """`NewImpersonation` of the API."""

    reason: str
    """For the audit log"""
    minutes: int


class NewInvitation(msgspec.Struct, frozen=True, kw_only=True):
    """`NewInvitation` of the API."""

    email: None | str | Unset = UNSET
    mobile: None | str | Unset = UNSET
    role: NewInvitationRole | Unset = UNSET
    groups: list[str] | Unset = UNSET
    """Ids of groups of the tenant that the user joins"""


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """`NewKey` of the API."""

    name: str
    scopes: list[NewKeyScopesItem]
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


class NewMobile(msgspec.Struct, frozen=True, kw_only=True):
    """`NewMobile` of the API."""

    mobile: str
    verification_code: VerificationCode = msgspec.field(name="verificationCode")
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""


class NewPasskey(msgspec.Struct, frozen=True, kw_only=True):
    """`NewPasskey` of the API."""

    challenge_id: str = msgspec.field(name="challengeId")
    credential: NewPasskeyCredential
    """`credential.toJSON()`"""
    name: str | Unset = UNSET


class NewPasswordLink(msgspec.Struct, frozen=True, kw_only=True):
    """`NewPasswordLink` of the API."""

    kind: NewPasswordLinkKind
    """`invite`: valid for 7 days; `reset`: for a day"""
    send: bool | Unset = UNSET
    """Whether to send it to the user, or to return it"""


class NewRetention(msgspec.Struct, frozen=True, kw_only=True):
    """`NewRetention` of the API."""

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
    """`NewServiceAccount` of the API."""

    name: str


class NewServiceKey(msgspec.Struct, frozen=True, kw_only=True):
    """`NewServiceKey` of the API."""

    name: str
    scopes: list[NewServiceKeyScopesItem]
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
    """`NewShare` of the API."""

    kind: NewShareKind
    label: str | Unset = UNSET
    """A title, shown to visitors"""
    password: None | str | Unset = UNSET
    """At least 8 characters; null: no password"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    """As `2026-06-21T00:00:00Z`; null: the latest that the policy allows"""
    max_downloads: int | None | Unset = msgspec.field(default=UNSET, name="maxDownloads")
    audience: NewShareAudienceType0 | NewShareAudienceUsers | Unset = UNSET
    notify: bool | Unset = UNSET
    """Messages to the maker: first opening, each drop, last download"""
    drop: Drop | Unset = UNSET


class NewShareAudienceUsers(msgspec.Struct, frozen=True, kw_only=True):
    """`NewShareAudienceUsers` of the API."""

    user_ids: list[str] = msgspec.field(name="userIds")


class NewTenant(msgspec.Struct, frozen=True, kw_only=True):
    """`NewTenant` of the API."""

    name: str


class NewTotp(msgspec.Struct, frozen=True, kw_only=True):
    """`NewTotp` of the API."""

    name: str | Unset = UNSET
    """A name for the user's list"""


class NewUser(msgspec.Struct, frozen=True, kw_only=True):
    """`NewUser` of the API."""

    name: str
    email: None | str | Unset = UNSET
    mobile: None | str | Unset = UNSET
    username: None | str | Unset = UNSET
    password: None | str | Unset = UNSET
    """With an uppercase letter, a lowercase letter and a digit"""
    verification_codes: list[VerificationCode] | Unset = msgspec.field(
        default=UNSET, name="verificationCodes"
    )
    captcha: CaptchaAnswer | None | Unset = UNSET
    invitation: None | str | Unset = UNSET
    """The secret of an invitation, which proves its address"""
    accepted_terms: None | str | Unset = msgspec.field(default=UNSET, name="acceptedTerms")
    """The version of the terms that the user accepts"""
    email_verified: bool | Unset = msgspec.field(default=UNSET, name="emailVerified")
    """Whether the address counts as proven"""
    mobile_verified: bool | Unset = msgspec.field(default=UNSET, name="mobileVerified")
    password_hash: NewUserPasswordHashType0 | None | Unset = msgspec.field(
        default=UNSET, name="passwordHash"
    )
    """A hash of another system: `algorithm` names its scheme"""
    password_change_required: bool | Unset = msgspec.field(default=UNSET, name="passwordChangeRequired")
    invite: bool | Unset = UNSET
    """Whether to send a link by which the user chooses a password"""
    external_id: None | str | Unset = msgspec.field(default=UNSET, name="externalId")
    """The id in another system"""
    metadata: NewUserMetadata | Unset = UNSET
    """A JSON object of at most 16384 bytes"""
    server_metadata: NewUserServerMetadata | Unset = msgspec.field(default=UNSET, name="serverMetadata")
    """A JSON object of at most 16384 bytes"""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """`Node` of the API."""

    id: str
    type_: NodeType = msgspec.field(name="type")
    name: str
    parent_id: None | str = msgspec.field(name="parentId")
    tenant_id: str = msgspec.field(name="tenantId")
    size: int
    """In bytes; 0 for folders"""
    content_type: None | str = msgspec.field(name="contentType")
    checksum: None | str
    """`sha256:` and hexadecimal digits"""
    owner: Reference
    permission: NodePermission
    revision: int
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    scan: NodeScanType0 | None
    """Scan state of the content; null for folders. Content that is `pending`, `infected` or `rejected` cannot be read"""
    path: list[str] | Unset = UNSET
    """With `include=path`: the names from the topmost folder that the caller can see down to the node's own"""


class NodeCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`NodeCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Node]
    included: NodeCollectionIncluded


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """`Opening` of the API."""

    at: datetime.datetime
    what: str
    address: str
    """Shortened: IPv4 /24, IPv6 /48"""
    file_id: None | str = msgspec.field(name="fileId")
    name: None | str
    size: int | None
    uploaded_by: None | str = msgspec.field(name="uploadedBy")


class OpeningCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`OpeningCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Opening]
    included: OpeningCollectionIncluded


class PaginationMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """`PaginationMetadata` of the API."""

    total: int | Unset = UNSET
    """Total number of items."""
    total_pages: int | Unset = UNSET
    """Total number of pages."""
    first_page: int | Unset = UNSET
    """First available page number."""
    last_page: int | Unset = UNSET
    """Last available page number."""
    page: int | Unset = UNSET
    """Current page number."""
    previous_page: int | Unset = UNSET
    """Previous page number."""
    next_page: int | Unset = UNSET
    """Next page number."""


class PasskeyChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """`PasskeyChallenge` of the API."""

    id: str
    public_key: PasskeyChallengePublicKey = msgspec.field(name="publicKey")
    """Options as JSON (WebAuthn Level 3, section 5.1.8)"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class PasskeyEndpoints(msgspec.Struct, frozen=True, kw_only=True):
    """`PasskeyEndpoints` of the API."""

    enroll: str | Unset = UNSET
    """The page to add a passkey"""
    manage: str | Unset = UNSET
    """The page to manage passkeys"""


class PasskeyName(msgspec.Struct, frozen=True, kw_only=True):
    """`PasskeyName` of the API."""

    name: str


class Password(msgspec.Struct, frozen=True, kw_only=True):
    """`Password` of the API."""

    password: str


class PasswordChange(msgspec.Struct, frozen=True, kw_only=True):
    """`PasswordChange` of the API."""

    new_password: str = msgspec.field(name="newPassword")
    """With an uppercase letter, a lowercase letter and a digit"""
    old_password: None | str | Unset = msgspec.field(default=UNSET, name="oldPassword")
    """Required if the user has a password"""
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a contact; required with a contact and no password"""


class PasswordLink(msgspec.Struct, frozen=True, kw_only=True):
    """`PasswordLink` of the API."""

    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    url: str | Unset = UNSET
    """Only with `send: false`, and only now"""


class PasswordLinkRedemption(msgspec.Struct, frozen=True, kw_only=True):
    """`PasswordLinkRedemption` of the API."""

    token: str
    new_password: str = msgspec.field(name="newPassword")
    """With an uppercase letter, a lowercase letter and a digit"""


class PasswordReset(msgspec.Struct, frozen=True, kw_only=True):
    """`PasswordReset` of the API."""

    verification_code: VerificationCode = msgspec.field(name="verificationCode")
    new_password: str = msgspec.field(name="newPassword")
    """With an uppercase letter, a lowercase letter and a digit"""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """`Policy` of the API."""

    enabled: bool
    kinds: list[str]
    max_lifetime_days: int = msgspec.field(name="maxLifetimeDays")
    password: str
    who: str


class PolicyChanges(msgspec.Struct, frozen=True, kw_only=True):
    """`PolicyChanges` of the API."""

    enabled: bool | None | Unset = UNSET
    kinds: list[PolicyChangesKindsType0Item] | None | Unset = UNSET
    max_lifetime_days: int | None | Unset = msgspec.field(default=UNSET, name="maxLifetimeDays")
    password: None | PolicyChangesPasswordType0 | Unset = UNSET
    who: None | PolicyChangesWhoType0 | Unset = UNSET


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """`Proof` of the API."""

    password: str
    captcha: Captcha | None | Unset = UNSET


class QuarantinedFile(msgspec.Struct, frozen=True, kw_only=True):
    """`QuarantinedFile` of the API."""

    id: str
    """Identifies the file in quarantine"""
    kind: str
    """`file` for tenants' files, or `business-file`"""
    file_id: str = msgspec.field(name="fileId")
    """The id of the file, or the name of a business file"""
    tenant_id: None | str = msgspec.field(name="tenantId")
    name: str
    owner: Reference
    size: int
    """In bytes"""
    content_type: str = msgspec.field(name="contentType")
    scan: QuarantinedFileScan
    reason: str
    """The signature, or the reason"""
    scanner: str
    engine: str
    database_version: str = msgspec.field(name="databaseVersion")
    scanned_at: datetime.datetime = msgspec.field(name="scannedAt")


class QuarantinedFileCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`QuarantinedFileCollection` of the API."""

    success: bool
    meta: Meta
    data: list[QuarantinedFile]
    included: QuarantinedFileCollectionIncluded


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """`Ready` of the API."""

    status: str
    parts: list[str]
    notes: ReadyNotes | Unset = UNSET


class ReceivedInvitation(msgspec.Struct, frozen=True, kw_only=True):
    """`ReceivedInvitation` of the API."""

    id: str
    tenant_id: str = msgspec.field(name="tenantId")
    email: None | str
    mobile: None | str
    role: str
    groups: list[str]
    invited_by: Reference = msgspec.field(name="invitedBy")
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    tenant_name: str = msgspec.field(name="tenantName")


class ReceivedInvitationCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`ReceivedInvitationCollection` of the API."""

    success: bool
    meta: Meta
    data: list[ReceivedInvitation]
    included: ReceivedInvitationCollectionIncluded


class RecoveryCodes(msgspec.Struct, frozen=True, kw_only=True):
    """`RecoveryCodes` of the API."""

    recovery_codes: list[str] = msgspec.field(name="recoveryCodes")


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """`Reference` of the API."""

    ref: str = msgspec.field(name="$ref")


class Refresh(msgspec.Struct, frozen=True, kw_only=True):
    """`Refresh` of the API."""

    refresh_token: None | str | Unset = msgspec.field(default=UNSET, name="refreshToken")


class RelatedOrigins(msgspec.Struct, frozen=True, kw_only=True):
    """`RelatedOrigins` of the API."""

    origins: list[str]


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """`Release` of the API."""

    reason: str


class RemovedFactor(msgspec.Struct, frozen=True, kw_only=True):
    """`RemovedFactor` of the API."""

    shown: RemovedFactorShown
    """By kind: what the user's devices need, such as `passkey.rpId`"""
    success: bool


class Rename(msgspec.Struct, frozen=True, kw_only=True):
    """`Rename` of the API."""

    name: str
    revision: int | None | Unset = UNSET


class RenamedFactor(msgspec.Struct, frozen=True, kw_only=True):
    """`RenamedFactor` of the API."""

    shown: RenamedFactorShown
    """By kind: what the user's devices need, such as `passkey.rpId`"""
    factor: Factor


class RenewedToken(msgspec.Struct, frozen=True, kw_only=True):
    """`RenewedToken` of the API."""

    access_token: str = msgspec.field(name="accessToken")
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """`Replay` of the API."""

    from_sequence: int = msgspec.field(name="fromSequence")
    stream: str | Unset = UNSET
    """`server` or a tenant; default: the tenant of the endpoint"""


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """`Replayed` of the API."""

    count: int
    next_sequence: int | None = msgspec.field(name="nextSequence")
    """Where to continue, if there were too many for one request"""


class RestorableContact(msgspec.Struct, frozen=True, kw_only=True):
    """`RestorableContact` of the API."""

    kind: RestorableContactKind
    former: str
    """The contact to take back"""
    current: None | str
    """What replaced it; `null`: it was removed"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class Restoration(msgspec.Struct, frozen=True, kw_only=True):
    """`Restoration` of the API."""

    parent_id: None | str | Unset = msgspec.field(default=UNSET, name="parentId")
    """The folder; null is the top level. By default, the folder that it was in"""
    on_conflict: RestorationOnConflict | Unset = msgspec.field(default=UNSET, name="onConflict")


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """`Retention` of the API."""

    trash_days: int = msgspec.field(name="trashDays")
    keep_versions: int = msgspec.field(name="keepVersions")
    version_days: int = msgspec.field(name="versionDays")
    minimum_days: int = msgspec.field(name="minimumDays")
    mode: RetentionMode


class RevokedKeys(msgspec.Struct, frozen=True, kw_only=True):
    """`RevokedKeys` of the API."""

    revoked: int
    """The number of revoked keys"""


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """`Role` of the API."""

    role: RoleRole


class Rotation(msgspec.Struct, frozen=True, kw_only=True):
    """`Rotation` of the API."""

    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""
    overlap_seconds: int | Unset = msgspec.field(default=UNSET, name="overlapSeconds")
    """Seconds for which the previous secret remains valid"""


class ScheduledDeletion(msgspec.Struct, frozen=True, kw_only=True):
    """`ScheduledDeletion` of the API."""

    due_at: datetime.datetime = msgspec.field(name="dueAt")
    """When the account is deleted, unless its user cancels it before"""


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """`Secret` of the API."""

    secret: str
    """For signatures `v1`"""
    public_key: str = msgspec.field(name="publicKey")
    """For signatures `v1a`"""


class SecretRotation(msgspec.Struct, frozen=True, kw_only=True):
    """`SecretRotation` of the API."""

    overlap_seconds: int | Unset = msgspec.field(default=UNSET, name="overlapSeconds")


class SentCode(msgspec.Struct, frozen=True, kw_only=True):
    """`SentCode` of the API."""

    id: str
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")
    retry_after_seconds: int = msgspec.field(name="retryAfterSeconds")


class ServiceAccount(msgspec.Struct, frozen=True, kw_only=True):
    """`ServiceAccount` of the API."""

    id: str
    name: str
    created_by: Reference = msgspec.field(name="createdBy")
    created_at: datetime.datetime = msgspec.field(name="createdAt")


class ServiceAccountCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`ServiceAccountCollection` of the API."""

    success: bool
    meta: Meta
    data: list[ServiceAccount]
    included: ServiceAccountCollectionIncluded


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """`Setup` of the API."""

    token: str
    email: str
    password: str
    """With an uppercase letter, a lowercase letter and a digit"""
    name: str | Unset = UNSET


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """`Share` of the API."""

    id: str
    tenant_id: str = msgspec.field(name="tenantId")
    file_id: str = msgspec.field(name="fileId")
    maker_id: str = msgspec.field(name="makerId")
    url: None | str
    """For its maker and administrators; null if it cannot be read again"""
    kind: ShareKind
    label: str
    state: str
    """`active`, or why it is not open"""
    closed: bool
    has_password: bool = msgspec.field(name="hasPassword")
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    max_downloads: int | None = msgspec.field(name="maxDownloads")
    downloads: int
    audience: ShareAudienceType0 | ShareAudienceUsers
    notify: bool
    drop: Drop
    dropped_files: int = msgspec.field(name="droppedFiles")
    dropped_bytes: int = msgspec.field(name="droppedBytes")
    opened_at: datetime.datetime | None = msgspec.field(name="openedAt")
    revision: int
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")


class ShareAudienceUsers(msgspec.Struct, frozen=True, kw_only=True):
    """`ShareAudienceUsers` of the API."""

    user_ids: list[str] = msgspec.field(name="userIds")


class ShareChanges(msgspec.Struct, frozen=True, kw_only=True):
    """`ShareChanges` of the API."""

    revision: int | Unset = UNSET
    label: str | Unset = UNSET
    password: None | str | Unset = UNSET
    """At least 8 characters; null: no password"""
    expires_at: datetime.datetime | None | Unset = msgspec.field(default=UNSET, name="expiresAt")
    max_downloads: int | None | Unset = msgspec.field(default=UNSET, name="maxDownloads")
    audience: ShareChangesAudienceType0 | ShareChangesAudienceUsers | Unset = UNSET
    notify: bool | Unset = UNSET
    closed: bool | Unset = UNSET
    """Close the share, or open it again, such as after a restore"""


class ShareChangesAudienceUsers(msgspec.Struct, frozen=True, kw_only=True):
    """`ShareChangesAudienceUsers` of the API."""

    user_ids: list[str] = msgspec.field(name="userIds")


class ShareCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`ShareCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Share]
    included: ShareCollectionIncluded


class SharedBundle(msgspec.Struct, frozen=True, kw_only=True):
    """`SharedBundle` of the API."""

    file_ids: list[str] | None | Unset = msgspec.field(default=UNSET, name="fileIds")
    name: None | str | Unset = UNSET


class SharedFile(msgspec.Struct, frozen=True, kw_only=True):
    """`SharedFile` of the API."""

    id: str
    name: str
    type_: SharedFileType = msgspec.field(name="type")
    size: int
    content_type: None | str = msgspec.field(name="contentType")
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")


class SharedFileCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`SharedFileCollection` of the API."""

    success: bool
    meta: Meta
    data: list[SharedFile]
    included: SharedFileCollectionIncluded


class SharedWithMe(msgspec.Struct, frozen=True, kw_only=True):
    """`SharedWithMe` of the API."""

    id: str
    tenant_id: str = msgspec.field(name="tenantId")
    maker_id: str = msgspec.field(name="makerId")
    url: None | str
    kind: SharedWithMeKind
    label: str
    needs_password: bool = msgspec.field(name="needsPassword")
    name: None | str
    """Null if there is a password"""
    expires_at: datetime.datetime | None = msgspec.field(name="expiresAt")
    created_at: datetime.datetime = msgspec.field(name="createdAt")


class SharedWithMeCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`SharedWithMeCollection` of the API."""

    success: bool
    meta: Meta
    data: list[SharedWithMe]
    included: SharedWithMeCollectionIncluded


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """`Start` of the API."""

    name: str
    version: str
    links: Links


class StepUp(msgspec.Struct, frozen=True, kw_only=True):
    """`StepUp` of the API."""

    challenge: ChallengeAnswer | None | Unset = UNSET
    verification_code: None | Unset | VerificationCode = msgspec.field(
        default=UNSET, name="verificationCode"
    )
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """`Strength` of the API."""

    strength: StrengthStrength


class Successor(msgspec.Struct, frozen=True, kw_only=True):
    """`Successor` of the API."""

    to_user_id: str = msgspec.field(name="toUserId")


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """`Summary` of the API."""

    id: str
    type_: str = msgspec.field(name="type")
    name: str


class Suspension(msgspec.Struct, frozen=True, kw_only=True):
    """`Suspension` of the API."""

    reason: None | str | Unset = UNSET
    """Only administrators see it"""
    until: datetime.datetime | None | Unset = UNSET


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """`Target` of the API."""

    type_: None | str = msgspec.field(name="type")
    id: str


class TemporaryPassword(msgspec.Struct, frozen=True, kw_only=True):
    """`TemporaryPassword` of the API."""

    password: str
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class Tenant(msgspec.Struct, frozen=True, kw_only=True):
    """`Tenant` of the API."""

    id: str
    name: str
    used_bytes: int = msgspec.field(name="usedBytes")
    quota_bytes: int | None = msgspec.field(name="quotaBytes")
    assurance: Assurance | None
    """null: any login"""
    revision: int
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")


class TenantChanges(msgspec.Struct, frozen=True, kw_only=True):
    """`TenantChanges` of the API."""

    name: str | Unset = UNSET
    quota_bytes: int | None | Unset = msgspec.field(default=UNSET, name="quotaBytes")
    """Only for server administrators; null: the configured default"""
    assurance: Assurance | None | Unset = UNSET
    """null: any login; the caller's own login must meet it"""
    revision: int | None | Unset = UNSET


class TenantCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`TenantCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Tenant]
    included: TenantCollectionIncluded


class TotpCode(msgspec.Struct, frozen=True, kw_only=True):
    """`TotpCode` of the API."""

    code: str


class TotpConfirmed(msgspec.Struct, frozen=True, kw_only=True):
    """`TotpConfirmed` of the API."""

    recovery_codes: list[str] = msgspec.field(name="recoveryCodes")
    """Shown only once; empty for a user who has a sheet of them already"""


class TotpSecret(msgspec.Struct, frozen=True, kw_only=True):
    """`TotpSecret` of the API."""

    secret: str
    """In base 32"""
    uri: str
    """With the scheme `otpauth`"""
    qr: str
    """The URI as a QR code in SVG"""


class Transferred(msgspec.Struct, frozen=True, kw_only=True):
    """`Transferred` of the API."""

    nodes: int
    grants: int


class TrashedFile(msgspec.Struct, frozen=True, kw_only=True):
    """`TrashedFile` of the API."""

    id: str
    type_: TrashedFileType = msgspec.field(name="type")
    name: str
    parent_id: None | str = msgspec.field(name="parentId")
    """The folder that it was in, which may be gone; null: the top level"""
    tenant_id: str = msgspec.field(name="tenantId")
    size: int
    """In bytes, with everything in a folder"""
    content_type: None | str = msgspec.field(name="contentType")
    owner: Reference
    trashed_by: Reference = msgspec.field(name="trashedBy")
    trashed_at: datetime.datetime = msgspec.field(name="trashedAt")
    purge_at: datetime.datetime = msgspec.field(name="purgeAt")
    """When it is due to be removed permanently"""


class TrashedFileCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`TrashedFileCollection` of the API."""

    success: bool
    meta: Meta
    data: list[TrashedFile]
    included: TrashedFileCollectionIncluded


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """`Upload` of the API."""

    id: str
    name: str
    parent_id: None | str = msgspec.field(name="parentId")
    size: int
    """In bytes"""
    offset: int
    """Number of stored bytes"""
    file_id: None | str = msgspec.field(name="fileId")
    """The created file; null until the upload is complete"""
    expires_at: datetime.datetime = msgspec.field(name="expiresAt")


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """`Usage` of the API."""

    used_bytes: int = msgspec.field(name="usedBytes")
    """The sum of liveBytes, trashBytes and versionBytes"""
    live_bytes: int = msgspec.field(name="liveBytes")
    """Files that are not deleted"""
    trash_bytes: int = msgspec.field(name="trashBytes")
    """Files in the trash"""
    version_bytes: int = msgspec.field(name="versionBytes")
    """Earlier contents of files, those of files in the trash included"""
    held_bytes: int = msgspec.field(name="heldBytes")
    """Files under a hold and their earlier contents, part of the above"""
    reserved_bytes: int = msgspec.field(name="reservedBytes")
    """Reserved for open resumable and direct uploads"""
    quota_bytes: int | None = msgspec.field(name="quotaBytes")
    """null: unlimited"""
    free_bytes: int | None = msgspec.field(name="freeBytes")
    """null: unlimited"""


class User(msgspec.Struct, frozen=True, kw_only=True):
    """`User` of the API."""

    id: str
    type_: UserType = msgspec.field(name="type")
    status: UserStatus
    name: str
    email: None | str
    mobile: None | str
    username: None | str
    locale: None | str
    """BCP 47"""
    timezone: None | str
    """As `Asia/Shanghai`"""
    email_verified: bool = msgspec.field(name="emailVerified")
    """Whether a code, or an administrator, has verified it"""
    mobile_verified: bool = msgspec.field(name="mobileVerified")
    has_password: bool = msgspec.field(name="hasPassword")
    password_change_required: bool = msgspec.field(name="passwordChangeRequired")
    """Whether the next login by the password must change it"""
    external_id: None | str = msgspec.field(name="externalId")
    """The id in another system"""
    last_login_at: datetime.datetime | None = msgspec.field(name="lastLoginAt")
    suspended_until: datetime.datetime | None = msgspec.field(name="suspendedUntil")
    """When a suspension ends, if it has an end"""
    deletion_due_at: datetime.datetime | None = msgspec.field(name="deletionDueAt")
    """When the user will be deleted, unless the user cancels it"""
    revision: int
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    updated_at: datetime.datetime = msgspec.field(name="updatedAt")
    suspension_reason: None | str | Unset = msgspec.field(default=UNSET, name="suspensionReason")
    """Only for administrators"""


class UserChange(msgspec.Struct, frozen=True, kw_only=True):
    """`UserChange` of the API."""

    name: str | Unset = UNSET
    locale: None | str | Unset = UNSET
    """Language of messages that are not caused by a request of the user"""
    timezone: None | str | Unset = UNSET
    """Time zone of IANA of the times in messages, such as `Asia/Shanghai`"""
    type_: UserChangeType | Unset = msgspec.field(default=UNSET, name="type")
    status: UserChangeStatus | Unset = UNSET
    external_id: None | str | Unset = msgspec.field(default=UNSET, name="externalId")
    """The id in another system; only for administrators"""
    revision: int | Unset = UNSET


class UserCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`UserCollection` of the API."""

    success: bool
    meta: Meta
    data: list[User]
    included: UserCollectionIncluded


class UserImport(msgspec.Struct, frozen=True, kw_only=True):
    """`UserImport` of the API."""

    id: str
    state: UserImportState
    dry_run: bool = msgspec.field(name="dryRun")
    on_conflict: str = msgspec.field(name="onConflict")
    events: bool
    lines: int
    """All lines, also empty ones"""
    read: int
    """The lines with users that were processed"""
    created: int
    updated: int
    skipped: int
    failed: int
    created_at: datetime.datetime = msgspec.field(name="createdAt")
    finished_at: datetime.datetime | None = msgspec.field(name="finishedAt")


class UserImportCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`UserImportCollection` of the API."""

    success: bool
    meta: Meta
    data: list[UserImport]
    included: UserImportCollectionIncluded


class Username(msgspec.Struct, frozen=True, kw_only=True):
    """`Username` of the API."""

    username: str
    held_code: None | Unset | VerificationCode = msgspec.field(default=UNSET, name="heldCode")
    """A code sent to a current contact; required if the user has one"""
    current_password: None | str | Unset = msgspec.field(default=UNSET, name="currentPassword")
    """Required if the user has a password and no contact"""


class VerificationCode(msgspec.Struct, frozen=True, kw_only=True):
    """`VerificationCode` of the API."""

    id: str
    code: str


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """`Version` of the API."""

    number: int
    """Of the file, never used again"""
    size: int
    """In bytes"""
    content_type: str = msgspec.field(name="contentType")
    checksum: str
    """`sha256:` and hexadecimal digits"""
    scan: VersionScan
    """Scan state of the content"""
    label: None | str
    keep: bool
    """Whether it is kept whatever its age"""
    modified_at: datetime.datetime = msgspec.field(name="modifiedAt")
    """`updatedAt` of the file with this content"""
    archived_at: datetime.datetime = msgspec.field(name="archivedAt")
    """When the file got other content"""
    archived_by: Reference = msgspec.field(name="archivedBy")


class VersionChanges(msgspec.Struct, frozen=True, kw_only=True):
    """`VersionChanges` of the API."""

    label: None | str | Unset = UNSET
    keep: bool | Unset = UNSET


class VersionCollection(msgspec.Struct, frozen=True, kw_only=True):
    """`VersionCollection` of the API."""

    success: bool
    meta: Meta
    data: list[Version]
    included: VersionCollectionIncluded


AccessKeyCollectionIncluded: TypeAlias = dict[str, Summary]

AuditEventCollectionIncluded: TypeAlias = dict[str, Summary]

AuditEventDetails: TypeAlias = dict[str, str]

AuthorizationCollectionIncluded: TypeAlias = dict[str, Summary]

BoundCredentialCollectionIncluded: TypeAlias = dict[str, Summary]

ChallengeAnswer: TypeAlias = dict[str, Any]
"""Members: `id`, and others."""

ChangeCollectionIncluded: TypeAlias = dict[str, Summary]

ChangeMetadataBody: TypeAlias = dict[str, Any]

ChangeMetadataResponse200: TypeAlias = dict[str, Any]

ChangeServerMetadataBody: TypeAlias = dict[str, Any]

ChangeServerMetadataResponse200: TypeAlias = dict[str, Any]

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

GrantCollectionIncluded: TypeAlias = dict[str, Summary]

GroupCollectionIncluded: TypeAlias = dict[str, Summary]

GroupGrantCollectionIncluded: TypeAlias = dict[str, Summary]

GroupMemberCollectionIncluded: TypeAlias = dict[str, Summary]

HoldCollectionIncluded: TypeAlias = dict[str, Summary]

InvitationCollectionIncluded: TypeAlias = dict[str, Summary]

IssuedCaptcha: TypeAlias = dict[str, Any]
"""Members: `id`, `kind`, `expiresAt`, `question`, `image`, `audio`, and others."""

IssuedChallengeChallenge: TypeAlias = dict[str, Any]

JwkSetKeysItem: TypeAlias = dict[str, Any]

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

QuarantinedFileCollectionIncluded: TypeAlias = dict[str, Summary]

ReadyNotes: TypeAlias = dict[str, str]

ReceivedInvitationCollectionIncluded: TypeAlias = dict[str, Summary]

RemovedFactorShown: TypeAlias = dict[str, Any]

RenamedFactorShown: TypeAlias = dict[str, Any]

Revocation: TypeAlias = dict[str, Any]
"""Members: `token`, `token_type_hint`, and others."""

ServiceAccountCollectionIncluded: TypeAlias = dict[str, Summary]

ShareCollectionIncluded: TypeAlias = dict[str, Summary]

SharedFileCollectionIncluded: TypeAlias = dict[str, Summary]

SharedWithMeCollectionIncluded: TypeAlias = dict[str, Summary]

TenantCollectionIncluded: TypeAlias = dict[str, Summary]

TrashedFileCollectionIncluded: TypeAlias = dict[str, Summary]

UserCollectionIncluded: TypeAlias = dict[str, Summary]

UserImportCollectionIncluded: TypeAlias = dict[str, Summary]

VersionCollectionIncluded: TypeAlias = dict[str, Summary]
