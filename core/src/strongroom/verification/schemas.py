"""What clients send and get."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields, post_dump

from strongroom.web.schema import Moment


class CaptchaRequestSchema(Schema):
    """The wish for a captcha; there is nothing to choose."""


class IssuedCaptchaSchema(Schema):
    """A puzzle. Further members depend on the kind: `image` and `audio` data URIs for `image`."""

    id = fields.String(required=True)
    kind = fields.String(required=True)
    expiresAt = Moment(required=True, attribute="expires_at")

    @post_dump(pass_original=True)
    def add_payload(self, data: Mapping[str, Any], original: Any, **_: Any) -> dict[str, Any]:
        """Put what the provider shows beside what the core does."""
        return {**data, **{key: value for key, value in original.payload.items() if key not in data}}
