"""Request and response schemas of holds and retention."""

from marshmallow import Schema, fields, validate

from strongroom.content.nodes.retention_models import RetentionMode
from strongroom.plugin_api.schemas import PagingQuery, ReferenceSchema, Timestamp
from strongroom.web.http.parsing import identifier, text

_MAX_DAYS = 36_500
_MODES = [mode.value for mode in RetentionMode]


class NewHoldSchema(Schema):
    """A hold to be placed."""

    reason = text(
        255,
        required=True,
        metadata={"description": "Such as the case that needs the files; recorded in the audit log"},
    )
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

    fileId = fields.String(
        required=True,
        attribute="node_id",
        metadata={"description": "The file or folder that the hold was placed on"},
    )
    reason = fields.String(required=True, metadata={"description": "As it was given with the hold"})
    until = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "When the hold ends; null: when it is released"},
    )
    placedBy = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "The user who placed it; the name is in `included`"},
    )
    placedAt = Timestamp(
        required=True,
        attribute="placed_at",
        metadata={"description": "When it was placed or last replaced"},
    )


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

    trashDays = fields.Integer(
        required=True,
        attribute="trash_days",
        metadata={"description": "Days after which deleted files are removed from the trash"},
    )
    keepVersions = fields.Integer(
        required=True,
        attribute="keep_versions",
        metadata={"description": "Number of earlier contents that are kept of a file"},
    )
    versionDays = fields.Integer(
        required=True,
        attribute="version_days",
        metadata={"description": "Days after which earlier contents are removed"},
    )
    minimumDays = fields.Integer(
        required=True,
        attribute="minimum_days",
        metadata={
            "description": "Days after its last change before which no content is removed; 0: none"
        },
    )
    mode = fields.String(
        required=True,
        validate=validate.OneOf(_MODES),
        metadata={
            "description": "`governance`: administrators may override with a reason; `compliance`: "
            "no user may"
        },
    )
