"""Request and response schemas of holds and retention."""

from marshmallow import Schema, fields, validate

from strongroom.content.nodes.retention_models import RetentionMode
from strongroom.web.http.pages import PagingQuery, ReferenceSchema
from strongroom.web.http.parsing import Timestamp, identifier, text

_MAX_DAYS = 36_500
_MODES = [mode.value for mode in RetentionMode]


class NewHoldSchema(Schema):
    """A hold to be placed."""

    reason = text(255, required=True)
    until = Timestamp(
        load_default=None,
        allow_none=True,
        metadata={"description": "When the hold ends; null: when it is released"},
    )


class HoldQuery(PagingQuery):
    """Which holds are listed."""

    fileId = identifier(
        attribute="file_id",
        load_default=None,
        metadata={"description": "Only those that apply to this file or folder"},
    )


class HoldSchema(Schema):
    """A hold on a file, or on a folder and everything in it."""

    fileId = fields.String(required=True, attribute="node_id")
    reason = fields.String(required=True)
    until = Timestamp(required=True, allow_none=True)
    placedBy = fields.Nested(ReferenceSchema, required=True)
    placedAt = Timestamp(required=True, attribute="placed_at")


def _days(least: int, description: str) -> fields.Integer:
    return fields.Integer(
        strict=True,
        load_default=None,
        allow_none=True,
        validate=validate.Range(least, _MAX_DAYS),
        metadata={"description": f"{description}; null: the setting of the server"},
    )


class NewRetentionSchema(Schema):
    """Retention settings of a tenant to be set."""

    trashDays = _days(0, "Days after which deleted files are removed from the trash")
    keepVersions = fields.Integer(
        strict=True,
        load_default=None,
        allow_none=True,
        validate=validate.Range(0, 1000),
        metadata={"description": "Earlier contents kept of a file; null: the setting of the server"},
    )
    versionDays = _days(1, "Days after which earlier contents are removed")
    minimumDays = fields.Integer(
        strict=True,
        load_default=0,
        validate=validate.Range(0, _MAX_DAYS),
        metadata={"description": "Days after its last change before which no content is removed"},
    )
    mode = fields.String(
        load_default=RetentionMode.GOVERNANCE.value,
        validate=validate.OneOf(_MODES),
        metadata={
            "description": "`governance`: administrators may remove retained content with a reason; "
            "`compliance`: no user may, and the settings may only become stricter"
        },
    )


class RetentionSchema(Schema):
    """The retention that applies to a tenant: the stricter of its own settings and the server's."""

    trashDays = fields.Integer(required=True, attribute="trash_days")
    keepVersions = fields.Integer(required=True, attribute="keep_versions")
    versionDays = fields.Integer(required=True, attribute="version_days")
    minimumDays = fields.Integer(required=True, attribute="minimum_days")
    mode = fields.String(required=True, validate=validate.OneOf(_MODES))
