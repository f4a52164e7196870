"""What requests without a body carry in headers."""

from flask import request

from strongroom.errors import ValidationFailed


def header_pair(name: str) -> tuple[str, str] | None:
    """Return the two parts of a header ``{id}.{secret}``, or ``None`` without the header.

    Raises:
        ValidationFailed: the header has another form.
    """
    value = request.headers.get(name)
    if value is None:
        return None
    identifier, _, secret = value.strip().partition(".")
    if not identifier or not secret:
        raise ValidationFailed.of_field(name, "invalid", "Must be like {id}.{answer}.")
    return identifier, secret
