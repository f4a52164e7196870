"""Schemas of JSON that many routes share, of the core's and of plugins'.

Only modules with routes import this one, because it needs marshmallow.
"""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.clock import iso_format

MAX_PAGE_SIZE: Final = 200
DEFAULT_PAGE_SIZE: Final = 20
MAX_PAGE_NUMBER: Final = 2**31 - 1
MAX_CURSOR: Final = 8192
"""Number of characters of the longest cursor: for the longest name, each character of it escaped."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ID: Final = fields.String(
    required=True, metadata={"description": "Id of the entity: the key of its summary in `included`"}
)


class Timestamp(fields.Field[int]):
    """A point in time: milliseconds since the Unix epoch in Python, ISO 8601 in UTC in JSON."""

    _sent = fields.AwareDateTime("iso")

    def _serialize(self, value: int | None, *_: Any, **__: Any) -> str | None:
        return None if value is None else iso_format(value)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        try:
            # Near the years 1 and 9999, the conversion to UTC may overflow.
            moment: datetime = self._sent.deserialize(value).astimezone(UTC)
        except OverflowError as error:
            raise ValidationError("Not a valid date and time.") from error
        return (moment - _EPOCH) // timedelta(milliseconds=1)


class DoneSchema(Schema):
    """The response of an operation without a result."""

    success = fields.Boolean(required=True)


class PagingQuery(Schema):
    """The query parameters of every collection."""

    pageSize = fields.Integer(
        load_default=DEFAULT_PAGE_SIZE,
        validate=validate.Range(1, MAX_PAGE_SIZE),
        metadata={"description": "Records per page"},
    )
    pageNumber = fields.Integer(
        load_default=1,
        validate=validate.Range(1, MAX_PAGE_NUMBER),
        metadata={"description": "The page number, starting at 1"},
    )
    cursor = fields.String(
        load_default=None,
        validate=validate.Length(max=MAX_CURSOR),
        metadata={
            "description": "Instead of `pageNumber`: empty for the first page, then as in "
            "`nextPageLink`. No record that exists throughout is left out or repeated"
        },
    )


class MetaSchema(Schema):
    """Paging information."""

    totalCount = fields.Integer(required=True, metadata={"description": "Records on all pages together"})
    pageSize = fields.Integer(
        required=True, metadata={"description": "The largest number of records on a page, as requested"}
    )
    pageNumber = fields.Integer(
        required=True, metadata={"description": "The page of this response, from 1 on"}
    )
    pageCount = fields.Integer(
        required=True, metadata={"description": "Pages of the requested size; 0: there is no record"}
    )
    isFirstPage = fields.Boolean(required=True, metadata={"description": "Whether no page comes before"})
    isLastPage = fields.Boolean(required=True, metadata={"description": "Whether no page follows"})
    hasPreviousPage = fields.Boolean(
        required=True, metadata={"description": "Whether `previousPageLink` is a URL"}
    )
    previousPageLink = fields.Url(
        required=True,
        allow_none=True,
        metadata={"description": "URL of the page before, with the same filters; `null`: there is none"},
    )
    hasNextPage = fields.Boolean(
        required=True, metadata={"description": "Whether `nextPageLink` is a URL"}
    )
    nextPageLink = fields.Url(
        required=True,
        allow_none=True,
        metadata={"description": "URL of the page after, with the same filters; `null`: there is none"},
    )


class ReferenceSchema(Schema):
    """A reference to a related entity, whose summary is in ``included`` under its id."""

    class Meta:
        include = {"$ref": _ID}  # noqa: RUF012  as marshmallow wants it


class SummarySchema(Schema):
    """A summary of an entity that records refer to."""

    id = fields.String(required=True, metadata={"description": "Id of the entity, as in `$ref`"})
    type = fields.String(required=True, metadata={"description": "What the entity is, such as `user`"})
    name = fields.String(required=True, metadata={"description": "What people see of the entity"})


@cache
def collection_schema(item: type[Schema]) -> type[Schema]:
    """Return the envelope schema of a collection of ``item``."""
    members: dict[str, Any] = {
        # Of the item, whose package distinguishes schemas of equal names in OpenAPI.
        "__module__": item.__module__,
        "__doc__": "A page of a list, with the summaries of the entities that its records refer to.",
        "success": fields.Boolean(required=True),
        "meta": fields.Nested(
            MetaSchema, required=True, metadata={"description": "Where the page is in the whole list"}
        ),
        "data": fields.List(
            fields.Nested(item), required=True, metadata={"description": "The records of the page"}
        ),
        "included": fields.Dict(
            keys=fields.String(),
            values=fields.Nested(SummarySchema),
            required=True,
            metadata={"description": "By id: a summary of each entity that a `$ref` of a record names"},
        ),
    }
    return type(f"{item.__name__.removesuffix('Schema')}CollectionSchema", (Schema,), members)


class LoggedInUserSchema(Schema):
    """The user who has logged in."""

    id = fields.String(
        required=True, metadata={"description": "Id of the user; `me` stands for it in paths"}
    )
    name = fields.String(required=True, metadata={"description": "What other users see"})
    type = fields.String(
        required=True, metadata={"description": "`USER`, or `ADMIN` for administrators of the server"}
    )


class IssuedTokensSchema(Schema):
    """Tokens, which the headers X-Access-Token and X-Refresh-Token carry as well."""

    accessToken = fields.String(
        required=True,
        attribute="access_token",
        metadata={"description": "A JWT, to be sent as `Authorization: Bearer`"},
    )
    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When the access token expires; the refresh token gets a new one"},
    )
    refreshToken = fields.String(
        required=True,
        attribute="refresh_token",
        metadata={"description": "Gets new tokens, once: the response has the next refresh token"},
    )
    refreshExpiresAt = Timestamp(
        required=True,
        attribute="refresh_expires_at",
        metadata={"description": "When the login ends unless it is refreshed before"},
    )
    user = fields.Nested(
        LoggedInUserSchema, required=True, metadata={"description": "Who has logged in"}
    )
    secondFactorDueAt = Timestamp(
        attribute="factor_due_at",
        metadata={
            "description": "Only if the user must enrol a second factor: until when logins need none"
        },
    )


class BoundCredentialSchema(Schema):
    """A credential of a user."""

    kind = fields.String(
        required=True,
        metadata={
            "description": "`email`, `mobile` or `username`, or the platform that the user logs in with"
        },
    )
    value = fields.String(
        required=True,
        attribute="address",
        metadata={"description": "The address, number or username; of a platform, the account there"},
    )
    verified = fields.Boolean(
        required=True,
        attribute="is_verified",
        metadata={"description": "Whether a proof, or an administrator, has verified it"},
    )
    createdAt = Timestamp(required=True, attribute="created_at")


class FactorSchema(Schema):
    """An enrolled second factor."""

    id = fields.String(
        required=True, metadata={"description": "Id of the factor, to rename or remove it"}
    )
    kind = fields.String(required=True, metadata={"description": "As in `methods` of a challenge"})
    name = fields.String(
        required=True, metadata={"description": "What the user sees in the list of factors"}
    )
    isBackup = fields.Boolean(
        required=True, attribute="is_backup", metadata={"description": "Whether it only replaces others"}
    )
    createdAt = Timestamp(required=True, attribute="created_at")
    lastUsedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="last_used_at",
        metadata={"description": "When a login or a step-up last used it; `null`: never"},
    )
