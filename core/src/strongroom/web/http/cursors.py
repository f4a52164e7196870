"""Cursors of lists: the key of the last record of a page, for one list of one caller.

A cursor is signed with its list: the path, the filters and the order of the request, and the caller. So
it continues no other list, and a client cannot make one.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any, Final

from strongroom.foundation.database.keysets import Key
from strongroom.foundation.errors import ValidationFailed
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.web.http.access import presented_user_id
from strongroom.web.http.request import get_service

_PURPOSE: Final = "list-cursor"
_SIGNATURE: Final = 32
"""Number of hexadecimal digits of a signature: 128 bits."""


def make_cursor(listed: str, values: Sequence[Any]) -> str:
    """Return the cursor of some values.

    Args:
        listed: the path and the query of the list, without the parameters of its pages.
    """
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    content = urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"{_signature(listed, content)}{content}"


def read_cursor(listed: str, cursor: str) -> Key:
    """Return the values of a cursor.

    Raises:
        ValidationFailed: it is not a cursor of this list for the caller.
    """
    signature, content = cursor[:_SIGNATURE].encode(errors="surrogatepass"), cursor[_SIGNATURE:]
    if not hmac.compare_digest(signature, _signature(listed, content).encode()):
        raise refused_cursor()
    values: list[Any] = json.loads(urlsafe_b64decode(content + "=" * (-len(content) % 4)))
    return values


def refused_cursor() -> ValidationFailed:
    """Return the error of a cursor that does not continue the list."""
    message = "Not a cursor of this list; start again with an empty cursor."
    return ValidationFailed.of_field("cursor", "invalid", message)


def _signature(listed: str, content: str) -> str:
    signed = json.dumps([presented_user_id(), listed, content])
    return get_service(SecretKeys).hash(_PURPOSE, signed)[:_SIGNATURE]
