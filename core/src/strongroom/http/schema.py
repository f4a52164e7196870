"""Marshmallow fields that several schemas share."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.clock import iso_format

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


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


def text(maximum: int, *, minimum: int = 1, **options: Any) -> fields.String:
    """Return a string field of bounded length, so that long input cannot cause expensive work."""
    return fields.String(validate=validate.Length(min=minimum, max=maximum), **options)


class DoneSchema(Schema):
    """The response of an operation without a result."""

    success = fields.Boolean(required=True)


DONE = {"success": True}

API_FIELDS = [(Timestamp, "string", "date-time")]
"""The OpenAPI types of custom fields: class, type, format."""
