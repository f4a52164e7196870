"""JSON of the REST API."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.plugin_api.names import name_fault
from strongroom.plugin_api.schemas import PagingQuery
from strongroom.plugin_api.times import iso_format
from strongroom_share_links.access_log import AccessKind
from strongroom_share_links.models import Audience, Kind, Layout
from strongroom_share_links.options import MAKERS, PASSWORDS

KIND: Final = validate.OneOf([kind.value for kind in Kind])
_AUDIENCES: Final = tuple(item.value for item in Audience if item is not Audience.USERS)
_COUNT: Final = validate.Range(1, 10**9)
_BYTES: Final = validate.Range(1, 2**53)
_DAYS: Final = validate.Range(0, 36_500)
_TYPE: Final = validate.Regexp(
    r"[a-z0-9.+-]{1,100}/[a-z0-9.+*-]{1,100}\Z", error='Must be like "image/png" or "image/*".'
)
_MAX_PEOPLE: Final = 100

# The descriptions of members of several schemas.
_NEW_END: Final = {"description": "As `2026-06-21T00:00:00Z`; null: the latest that the policy allows"}
_END: Final = {"description": "When it ends; null: never"}
_MAX_DOWNLOADS: Final = {"description": "Downloads of all visitors together; null: no limit"}
_AUDIENCE: Final = {
    "description": "Who may open it, given the link: `anyone`, `logged-in` users, `members` "
    "of the tenant, or the users of `userIds`"
}
_DROP: Final = {"description": "Limits of uploads, for the kinds `drop` and `write`"}


def _require_name(name: str) -> None:
    if name and (fault := name_fault(name)):
        raise ValidationError(fault)


class Timestamp(fields.Integer):
    """Milliseconds since the Unix epoch, shown as ISO 8601 in UTC."""

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **options: Any) -> None:
        described = {"type": "string", "format": "date-time", **(metadata or {})}
        super().__init__(metadata=described, **options)

    def _serialize(self, value: Any, *_: Any, **__: Any) -> Any:
        return None if value is None else iso_format(value)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Any:
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is not None:
                return round(moment.timestamp() * 1000)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValidationError("Must be like 2026-06-21T00:00:00Z.") from error
        raise ValidationError("Must have a time zone, such as Z.")


class AudienceField(fields.Field[Any]):
    """``anyone``, ``logged-in``, ``members`` or ``{"userIds": [...]}``: the audience and its users."""

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **options: Any) -> None:
        named = {"type": "string", "enum": list(_AUDIENCES)}
        listed = {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": _MAX_PEOPLE,
            "description": "Ids of the users who may open the share",
        }
        users = {
            "title": "AudienceUsers",
            "type": "object",
            "properties": {"userIds": listed},
            "required": ["userIds"],
            "additionalProperties": False,
        }
        super().__init__(metadata={"anyOf": [named, users], **(metadata or {})}, **options)

    def _serialize(self, value: Any, *_: Any, **__: Any) -> Any:
        audience, user_ids = value
        return {"userIds": list(user_ids)} if audience == Audience.USERS else str(audience)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> tuple[str, list[str]]:
        if value in _AUDIENCES:
            return str(value), []
        if isinstance(value, Mapping) and value.keys() == {"userIds"} and _are_ids(value["userIds"]):
            return Audience.USERS.value, list(dict.fromkeys(value["userIds"]))
        raise ValidationError(f'Must be one of: {", ".join(_AUDIENCES)}, {{"userIds": [...]}}.')


def _are_ids(ids: Any) -> bool:
    is_list = isinstance(ids, list) and 0 < len(ids) <= _MAX_PEOPLE
    return is_list and all(
        isinstance(item, str) and 0 < len(item) <= 36 and item.isascii() and "\0" not in item  # noqa: PLR2004
        for item in ids
    )


def _text(most: int, **options: Any) -> fields.String:
    return fields.String(validate=validate.Length(max=most), **options)


def _name(most: int, **options: Any) -> fields.String:
    return fields.String(validate=[validate.Length(max=most), _require_name], **options)


def _kind() -> fields.String:
    return fields.String(
        required=True,
        validate=KIND,
        metadata={
            "description": "`read`: list and download; `preview`: view without download; `drop`: "
            "upload without seeing files; `write`: `read` with uploads"
        },
    )


def _password(**options: Any) -> fields.String:
    return fields.String(
        validate=validate.Length(8, 1024),
        allow_none=True,
        metadata={"description": "At least 8 characters; null: no password"},
        **options,
    )


class DropSchema(Schema):
    """The settings of a drop box."""

    maxBytes = fields.Integer(
        load_default=None,
        allow_none=True,
        strict=True,
        validate=_BYTES,
        attribute="max_bytes",
        metadata={"description": "Bytes of all files together; null: no limit"},
    )
    maxFiles = fields.Integer(
        load_default=None,
        allow_none=True,
        strict=True,
        validate=_COUNT,
        attribute="max_files",
        metadata={"description": "Number of all files together; null: no limit"},
    )
    allowedTypes = fields.List(
        fields.String(validate=_TYPE),
        load_default=list,
        validate=validate.Length(max=50),
        attribute="allowed_types",
        metadata={"description": "Media types such as `image/*`; empty: all"},
    )
    requireName = fields.Boolean(
        load_default=False,
        attribute="require_name",
        metadata={"description": "Whether visitors must give a name, `uploadedBy`"},
    )
    layout = fields.String(
        load_default=Layout.FLAT.value,
        validate=validate.OneOf([item.value for item in Layout]),
        metadata={"description": "`by-visitor`: a folder for each name of a sender"},
    )


class NewShareSchema(Schema):
    """What a link to a file or folder allows, to which visitors, and until when."""

    kind = _kind()
    label = _name(255, load_default="", metadata={"description": "A title, shown to visitors"})
    password = _password(load_default=None)
    expiresAt = Timestamp(load_default=None, allow_none=True, metadata=_NEW_END)
    maxDownloads = fields.Integer(
        load_default=None,
        allow_none=True,
        strict=True,
        validate=_COUNT,
        metadata=_MAX_DOWNLOADS,
    )
    audience = AudienceField(
        load_default=(Audience.ANYONE.value, []),
        metadata={"description": f"{_AUDIENCE['description']}; `anyone` by default"},
    )
    notify = fields.Boolean(
        load_default=False,
        metadata={"description": "Messages to the maker: first opening, each drop, last download"},
    )
    drop = fields.Nested(DropSchema, load_default=lambda: _loaded(DropSchema), metadata=_DROP)


class ShareChangesSchema(Schema):
    """Changes of a share; absent members stay as they are."""

    revision = fields.Integer(strict=True)
    label = _name(255, metadata={"description": "A title, shown to visitors"})
    password = _password()
    expiresAt = Timestamp(allow_none=True, metadata=_NEW_END)
    maxDownloads = fields.Integer(
        allow_none=True,
        strict=True,
        validate=_COUNT,
        metadata=_MAX_DOWNLOADS,
    )
    audience = AudienceField(metadata=_AUDIENCE)
    notify = fields.Boolean(
        metadata={"description": "Messages to the maker: first opening, each drop, last download"}
    )
    closed = fields.Boolean(
        metadata={"description": "Close the share, or open it again, such as after a restore"}
    )


class ShareSchema(Schema):
    """A share, for its makers."""

    id = fields.String(
        required=True,
        metadata={"description": "Identifies the share in paths; not the secret of its link"},
    )
    tenantId = fields.String(required=True, metadata={"description": "The tenant of the file"})
    fileId = fields.String(required=True, metadata={"description": "The shared file or folder"})
    makerId = fields.String(
        required=True, metadata={"description": "The user whose rights visitors use"}
    )
    url = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "For its maker and administrators; null if it cannot be read again"},
    )
    kind = _kind()
    label = fields.String(
        required=True, metadata={"description": "A title, shown to visitors; empty: none"}
    )
    state = fields.String(required=True, metadata={"description": "`active`, or why it is not open"})
    closed = fields.Boolean(
        required=True,
        metadata={
            "description": "Whether it was closed by a user, or because the file was in the trash, "
            "the tenant was deleted or the maker left it"
        },
    )
    hasPassword = fields.Boolean(
        required=True, metadata={"description": "Whether visitors need a password"}
    )
    expiresAt = Timestamp(required=True, allow_none=True, metadata=_END)
    maxDownloads = fields.Integer(
        required=True,
        allow_none=True,
        metadata=_MAX_DOWNLOADS,
    )
    downloads = fields.Integer(
        required=True,
        metadata={"description": "Number of downloads so far, as `maxDownloads` counts them"},
    )
    audience = AudienceField(required=True, metadata=_AUDIENCE)
    notify = fields.Boolean(
        required=True,
        metadata={
            "description": "Whether the maker gets messages about openings, drops and the last download"
        },
    )
    drop = fields.Nested(DropSchema, required=True, metadata=_DROP)
    droppedFiles = fields.Integer(
        required=True,
        metadata={"description": "Number of uploaded files, with those that are being uploaded"},
    )
    droppedBytes = fields.Integer(
        required=True,
        metadata={"description": "Bytes of uploaded files, with those that are being uploaded"},
    )
    openedAt = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "When a visitor first opened it; null: none did"},
    )
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True)
    updatedAt = Timestamp(required=True)


class SharedWithMeSchema(Schema):
    """A share for the caller."""

    id = fields.String(required=True, metadata={"description": "Identifies the share"})
    tenantId = fields.String(required=True, metadata={"description": "The tenant of the file"})
    makerId = fields.String(required=True, metadata={"description": "The user who has shared the file"})
    url = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The link to open; null if it cannot be read again"},
    )
    kind = _kind()
    label = fields.String(
        required=True, metadata={"description": "The maker's title; empty if there is a password"}
    )
    needsPassword = fields.Boolean(
        required=True, metadata={"description": "Whether the link asks for a password"}
    )
    name = fields.String(
        required=True, allow_none=True, metadata={"description": "Null if there is a password"}
    )
    expiresAt = Timestamp(required=True, allow_none=True, metadata=_END)
    createdAt = Timestamp(required=True)


class OpeningSchema(Schema):
    """What a visitor did."""

    at = Timestamp(required=True, metadata={"description": "When it happened, in UTC"})
    what = fields.String(
        required=True, metadata={"description": "What the visitor did, as in the filter `what`"}
    )
    address = fields.String(required=True, metadata={"description": "Shortened: IPv4 /24, IPv6 /48"})
    fileId = fields.String(
        required=True,
        allow_none=True,
        attribute="file_id",
        metadata={"description": "The file or folder; null: the share as a whole"},
    )
    name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Name of the file; null if there is none"},
    )
    size = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Bytes of the file; null if there is none"},
    )
    uploadedBy = fields.String(
        required=True,
        allow_none=True,
        attribute="uploaded_by",
        metadata={"description": "The name that the visitor gave with an upload; null: none"},
    )


class PolicyChangesSchema(Schema):
    """The rules of a tenant; null: those of the server."""

    enabled = fields.Boolean(
        load_default=None,
        allow_none=True,
        metadata={"description": "Whether shares can be made and opened; null: the server's rule"},
    )
    kinds = fields.List(
        fields.String(validate=KIND),
        load_default=None,
        allow_none=True,
        metadata={
            "description": "The kinds of shares that can be made and opened; null: the server's rule"
        },
    )
    max_lifetime_days = fields.Integer(
        load_default=None,
        allow_none=True,
        strict=True,
        validate=_DAYS,
        data_key="maxLifetimeDays",
        metadata={"description": "Longest lifetime of a share in days; 0 or null: the server's rule"},
    )
    password = fields.String(
        load_default=None,
        allow_none=True,
        validate=validate.OneOf(PASSWORDS),
        metadata={
            "description": "Whether shares need a password: `optional` or `required`; null: the "
            "server's rule"
        },
    )
    who = fields.String(
        load_default=None,
        allow_none=True,
        validate=validate.OneOf(MAKERS),
        metadata={
            "description": "Who makes shares: `manage` (of the file), `tenant-admins` or `nobody`; "
            "null: the server's rule"
        },
    )


class PolicySchema(Schema):
    """The rules in force: the stricter of the server's and the tenant's."""

    enabled = fields.Boolean(
        required=True, metadata={"description": "Whether shares can be made and opened"}
    )
    kinds = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "The kinds of shares that can be made and opened"},
    )
    maxLifetimeDays = fields.Integer(
        required=True,
        attribute="max_lifetime_days",
        metadata={"description": "Longest lifetime of a share in days; 0: no limit"},
    )
    password = fields.String(
        required=True,
        metadata={"description": "Whether shares need a password: `optional` or `required`"},
    )
    who = fields.String(
        required=True,
        metadata={
            "description": "Who makes shares: `manage` (of the file), `tenant-admins` or `nobody`"
        },
    )


class CaptchaSchema(Schema):
    """A solved captcha."""

    id = _text(64, required=True, metadata={"description": "Id of the challenge"})
    answer = _text(4096, required=True, metadata={"description": "What the visitor entered"})


class ProofSchema(Schema):
    """The password of a share."""

    password = _text(1024, required=True, metadata={"description": "As the maker has set it"})
    captcha = fields.Nested(
        CaptchaSchema,
        load_default=None,
        allow_none=True,
        metadata={"description": "Required after several wrong passwords"},
    )


class IssuedProofSchema(Schema):
    """How long the proof in the header and the cookie is valid."""

    expiresAt = Timestamp(required=True, metadata={"description": "15 minutes after it was issued"})


class DescriptionSchema(Schema):
    """A share, for its visitors. Without the proof of its password, only the first four members."""

    id = fields.String(required=True, metadata={"description": "Identifies the share; not its secret"})
    kind = _kind()
    needsPassword = fields.Boolean(
        required=True, metadata={"description": "Whether the proof of a password is needed"}
    )
    expired = fields.Boolean(
        required=True, metadata={"description": "Always false: a share that has ended is 404"}
    )
    label = fields.String(metadata={"description": "The maker's title; empty: none"})
    name = fields.String(
        metadata={"description": "Name of the shared file or folder; absent for the kind `drop`"}
    )
    type = fields.String(
        validate=validate.OneOf(["file", "folder"]),
        metadata={"description": "`file` or `folder`; absent for the kind `drop`"},
    )
    fileId = fields.String(
        metadata={"description": "Id for further requests; absent for the kind `drop`"}
    )
    size = fields.Integer(metadata={"description": "In bytes; 0 for folders"})
    contentType = fields.String(
        allow_none=True, metadata={"description": "Media type of the file; null for a folder"}
    )
    expiresAt = Timestamp(allow_none=True, metadata={"description": "When the share ends; null: never"})
    remainingDownloads = fields.Integer(
        allow_none=True, metadata={"description": "Number of downloads that are left; null: no limit"}
    )
    drop = fields.Nested(DropSchema, metadata=_DROP)
    remainingFiles = fields.Integer(
        allow_none=True,
        metadata={"description": "Number of files that can still be uploaded; null: no limit"},
    )
    remainingBytes = fields.Integer(
        allow_none=True, metadata={"description": "Bytes that can still be uploaded; null: no limit"}
    )


class SharedFileSchema(Schema):
    """A file or folder of a share."""

    id = fields.String(required=True, metadata={"description": "Identifies it in paths of this share"})
    name = fields.String(required=True, metadata={"description": "With the extension"})
    type = fields.String(
        required=True,
        validate=validate.OneOf(["file", "folder"]),
        metadata={"description": "`file` or `folder`"},
    )
    size = fields.Integer(required=True, metadata={"description": "In bytes; 0 for folders"})
    contentType = fields.String(
        required=True, allow_none=True, metadata={"description": "Media type; null for folders"}
    )
    updatedAt = Timestamp(required=True)


class DroppedSchema(Schema):
    """A file that was uploaded. Visitors who may see the folder also receive its id."""

    id = fields.String(metadata={"description": "Only for the kind `write`"})
    name = fields.String(
        required=True, metadata={"description": "As stored, with a number if the name was taken"}
    )
    size = fields.Integer(required=True, metadata={"description": "In bytes"})


class SharedBundleSchema(Schema):
    """What to download as one archive; without `fileIds`, the whole share."""

    fileIds = fields.List(
        _text(36),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, 1000),
        metadata={"description": "Files, and folders with their content; null: the whole share"},
    )
    name = _text(
        255,
        load_default=None,
        allow_none=True,
        metadata={"description": "File name of the archive; `.zip` is appended if missing"},
    )


class DropQuery(Schema):
    """Who uploads a file."""

    uploadedBy = _text(100, load_default=None, metadata={"description": "The name of the sender"})


class DropPathQuery(DropQuery):
    """Who uploads a file, and its path in the folder."""

    relativePath = _text(
        4096,
        load_default=None,
        metadata={
            "description": "Path of the file, such as `photos/a.jpg`; missing folders are created"
        },
    )


class DropFormQuery(DropQuery):
    """Who uploads a file by a form of the page, and its proof that the page has sent it."""

    csrf = _text(
        100, load_default=None, metadata={"description": "The value that the page has in its form"}
    )


class PageQuery(DropQuery):
    """Which part of a folder a page shows, and who uploads files by it."""

    page = fields.Integer(
        load_default=1,
        validate=validate.Range(1, 10**6),
        metadata={"description": "Number of the page of the folder, from 1"},
    )
    view = _text(255, metadata={"description": "The name of the file of the folder that the page shows"})


class PreviewQuery(Schema):
    """The size of a preview."""

    size = fields.String(
        load_default="large",
        validate=validate.OneOf(["large", "small"]),
        metadata={"description": "The size of a picture; texts have one"},
    )


class SharedOrder(Schema):
    """The order of files and folders, which is by name."""

    foldersFirst = fields.Boolean(
        load_default=False,
        truthy={"true"},
        falsy={"false"},
        metadata={"description": "Whether folders are before files"},
    )


class SharedFilesQuery(PagingQuery, SharedOrder):
    """A page of files and folders."""


class SharesQuery(PagingQuery):
    """Which shares of a tenant to list."""

    stale = fields.Boolean(load_default=None, metadata={"description": "Whether not active"})


class OpeningsFilter(Schema):
    """Which records to list."""

    what = fields.String(
        load_default=None,
        validate=validate.OneOf([item.value for item in AccessKind]),
        metadata={"description": "Only this kind of action"},
    )


class OpeningsQuery(PagingQuery, OpeningsFilter):
    """A page of records."""


def _loaded(schema: type[Schema]) -> dict[str, Any]:
    loaded: dict[str, Any] = schema().load({})
    return loaded
