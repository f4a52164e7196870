"""Fields that several schemas need."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.clock import iso_format

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Timestamp(fields.Field[int]):
    """A point in time: milliseconds since the Unix epoch here, ISO 8601 in UTC for clients."""

    _sent = fields.AwareDateTime("iso")

    def _serialize(self, value: int | None, *_: Any, **__: Any) -> str | None:
        return None if value is None else iso_format(value)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        try:
            # In UTC, the first and the last day of all years may lie outside of them.
            moment: datetime = self._sent.deserialize(value).astimezone(UTC)
        except OverflowError as error:
            raise ValidationError("Not a time that a calendar has.") from error
        return (moment - _EPOCH) // timedelta(milliseconds=1)


def text(maximum: int, *, minimum: int = 1, **options: Any) -> fields.String:
    """Return a string field of bounded length; the bound keeps what costs from being fed too much."""
    return fields.String(validate=validate.Length(min=minimum, max=maximum), **options)


class DoneSchema(Schema):
    """It is done."""

    success = fields.Boolean(required=True)


DONE = {"success": True}

API_FIELDS = [(Timestamp, "string", "date-time")]
"""The OpenAPI types of fields of our own: class, type, format."""
