"""How clients authenticate at token endpoints (RFC 6749, section 2.3), for sessions of Authlib."""

import base64
from typing import Any, Final
from urllib.parse import quote_plus

BASIC: Final = "client_secret_basic"
POST: Final = "client_secret_post"
NONE: Final = "none"


def encode_basic(client: Any, _method: str, uri: str, headers: Any, body: str) -> tuple[str, Any, str]:
    """Add the header of HTTP Basic, whose parts are form-encoded first (RFC 6749, section 2.3.1).

    For ``session.register_client_auth_method((BASIC, encode_basic))``, because Authlib does not encode
    them.
    """
    pair = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret or '')}"
    headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return uri, headers, body
