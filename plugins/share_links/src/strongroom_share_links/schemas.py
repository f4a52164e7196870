"""JSON of the REST API."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.plugin_api.names import name_fault
from strongroom.plugin_api.times import iso_format
from strongroom_share_links.models import Audience, Kind, Layout
from strongroom_share_links.openings import Opening
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

    def __init__(self, **options: Any) -> None:
        named = {"type": "string", "enum": list(_AUDIENCES)}
        listed = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": _MAX_PEOPLE}
        users = {
            "title": "AudienceUsers",
            "type": "object",
            "properties": {"userIds": listed},
            "required": ["userIds"],
            "additionalProperties": False,
        }
        super().__init__(metadata={"anyOf": [named, users]}, **options)

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
        metadata={"description": "All files together"},
    )
    maxFiles = fields.Integer(
        load_default=None, allow_none=True, strict=True, validate=_COUNT, attribute="max_files"
    )
    allowedTypes = fields.List(
        fields.String(validate=_TYPE),
        load_default=list,
        validate=validate.Length(max=50),
        attribute="allowed_types",
        metadata={"description": "Media types such as `image/*`; empty: all"},
    )
    requireName = fields.Boolean(load_default=False, attribute="require_name")
    layout = fields.String(
        load_default=Layout.FLAT.value,
        validate=validate.OneOf([item.value for item in Layout]),
        metadata={"description": "`by-visitor`: a folder for each name of a sender"},
    )


class NewShareSchema(Schema):
    """A new share."""

    kind = fields.String(required=True, validate=KIND)
    label = _name(255, load_default="", metadata={"description": "A title, shown to visitors"})
    password = _password(load_default=None)
    expiresAt = Timestamp(
        load_default=None,
        allow_none=True,
        metadata={"description": "As `2026-06-21T00:00:00Z`; null: the latest that the policy allows"},
    )
    maxDownloads = fields.Integer(load_default=None, allow_none=True, strict=True, validate=_COUNT)
    audience = AudienceField(load_default=(Audience.ANYONE.value, []))
    notify = fields.Boolean(
        load_default=False,
        metadata={"description": "Messages to the maker: first opening, each drop, last download"},
    )
    drop = fields.Nested(DropSchema, load_default=lambda: _loaded(DropSchema))


class ShareChangesSchema(Schema):
    """Changes of a share; absent members stay as they are."""

    revision = fields.Integer(strict=True)
    label = _name(255)
    password = _password()
    expiresAt = Timestamp(allow_none=True)
    maxDownloads = fields.Integer(allow_none=True, strict=True, validate=_COUNT)
    audience = AudienceField()
    notify = fields.Boolean()
    closed = fields.Boolean(
        metadata={"description": "Close the share, or open it again, such as after a restore"}
    )


class ShareSchema(Schema):
    """A share, for its makers."""

    id = fields.String(required=True)
    tenantId = fields.String(required=True)
    fileId = fields.String(required=True)
    makerId = fields.String(required=True)
    url = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "For its maker and administrators; null if it cannot be read again"},
    )
    kind = fields.String(required=True, validate=KIND)
    label = fields.String(required=True)
    state = fields.String(required=True, metadata={"description": "`active`, or why it is not open"})
    closed = fields.Boolean(required=True)
    hasPassword = fields.Boolean(required=True)
    expiresAt = Timestamp(required=True, allow_none=True)
    maxDownloads = fields.Integer(required=True, allow_none=True)
    downloads = fields.Integer(required=True)
    audience = AudienceField(required=True)
    notify = fields.Boolean(required=True)
    drop = fields.Nested(DropSchema, required=True)
    droppedFiles = fields.Integer(required=True)
    droppedBytes = fields.Integer(required=True)
    openedAt = Timestamp(required=True, allow_none=True)
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True)
    updatedAt = Timestamp(required=True)


class SharedWithMeSchema(Schema):
    """A share for the caller."""

    id = fields.String(required=True)
    tenantId = fields.String(required=True)
    makerId = fields.String(required=True)
    url = fields.String(required=True, allow_none=True)
    kind = fields.String(required=True, validate=KIND)
    label = fields.String(required=True)
    needsPassword = fields.Boolean(required=True)
    name = fields.String(
        required=True, allow_none=True, metadata={"description": "Null if there is a password"}
    )
    expiresAt = Timestamp(required=True, allow_none=True)
    createdAt = Timestamp(required=True)


class OpeningSchema(Schema):
    """What a visitor did."""

    at = Timestamp(required=True)
    what = fields.String(required=True)
    address = fields.String(required=True, metadata={"description": "Shortened: IPv4 /24, IPv6 /48"})
    fileId = fields.String(required=True, allow_none=True, attribute="file_id")
    name = fields.String(required=True, allow_none=True)
    size = fields.Integer(required=True, allow_none=True)
    uploadedBy = fields.String(required=True, allow_none=True, attribute="uploaded_by")


class PolicyChangesSchema(Schema):
    """The rules of a tenant; null: those of the server."""

    enabled = fields.Boolean(load_default=None, allow_none=True)
    kinds = fields.List(fields.String(validate=KIND), load_default=None, allow_none=True)
    max_lifetime_days = fields.Integer(
        load_default=None, allow_none=True, strict=True, validate=_DAYS, data_key="maxLifetimeDays"
    )
    password = fields.String(load_default=None, allow_none=True, validate=validate.OneOf(PASSWORDS))
    who = fields.String(load_default=None, allow_none=True, validate=validate.OneOf(MAKERS))


class PolicySchema(Schema):
    """The rules in force: the stricter of the server's and the tenant's."""

    enabled = fields.Boolean(required=True)
    kinds = fields.List(fields.String(), required=True)
    maxLifetimeDays = fields.Integer(required=True, attribute="max_lifetime_days")
    password = fields.String(required=True)
    who = fields.String(required=True)


class CaptchaSchema(Schema):
    """A solved captcha."""

    id = _text(64, required=True)
    answer = _text(4096, required=True)


class ProofSchema(Schema):
    """The password of a share."""

    password = _text(1024, required=True)
    captcha = fields.Nested(CaptchaSchema, load_default=None, allow_none=True)


class IssuedProofSchema(Schema):
    """How long the proof in the header and the cookie is valid."""

    expiresAt = Timestamp(required=True)


class DescriptionSchema(Schema):
    """A share, for its visitors. The first four members come before the proof; the others after it."""

    id = fields.String(required=True)
    kind = fields.String(required=True, validate=KIND)
    needsPassword = fields.Boolean(required=True)
    expired = fields.Boolean(required=True)
    label = fields.String()
    name = fields.String()
    type = fields.String(validate=validate.OneOf(["file", "folder"]))
    fileId = fields.String()
    size = fields.Integer()
    contentType = fields.String(allow_none=True)
    expiresAt = Timestamp(allow_none=True)
    remainingDownloads = fields.Integer(allow_none=True)
    drop = fields.Nested(DropSchema)
    remainingFiles = fields.Integer(allow_none=True)
    remainingBytes = fields.Integer(allow_none=True)


class SharedFileSchema(Schema):
    """A file or folder of a share."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    type = fields.String(required=True, validate=validate.OneOf(["file", "folder"]))
    size = fields.Integer(required=True)
    contentType = fields.String(required=True, allow_none=True)
    updatedAt = Timestamp(required=True)


class DroppedSchema(Schema):
    """A file that was uploaded. Visitors who may see the folder also receive its id."""

    id = fields.String()
    name = fields.String(required=True)
    size = fields.Integer(required=True)


class SharedBundleSchema(Schema):
    """What to download as one archive; without `fileIds`, the whole share."""

    fileIds = fields.List(
        _text(36), load_default=None, allow_none=True, validate=validate.Length(1, 1000)
    )
    name = _text(255, load_default=None, allow_none=True)


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

    csrf = _text(100, load_default=None)


class PageQuery(DropQuery):
    """Which part of a folder a page shows, and whether a file was just uploaded."""

    page = fields.Integer(load_default=1, validate=validate.Range(1, 10**6))
    sent = fields.Boolean(load_default=False)


class SharedOrder(Schema):
    """The order of files and folders, which is by name."""

    foldersFirst = fields.Boolean(
        load_default=False,
        truthy={"true"},
        falsy={"false"},
        metadata={"description": "Whether folders are before files"},
    )


class OpeningsFilter(Schema):
    """Which records to list."""

    what = fields.String(load_default=None, validate=validate.OneOf([item.value for item in Opening]))


def _loaded(schema: type[Schema]) -> dict[str, Any]:
    loaded: dict[str, Any] = schema().load({})
    return loaded
