"""The two signature versions of Aliyun's APIs, implemented from their published descriptions."""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Iterable, Mapping
from urllib.parse import quote


def percent_encode(text: str) -> str:
    """Encode by RFC 3986: everything but letters, digits and ``-_.~``."""
    return quote(text, safe="~")


def canonical_query(parameters: Mapping[str, str]) -> str:
    """Return the parameters sorted by name, encoded and joined."""
    return "&".join(
        f"{percent_encode(name)}={percent_encode(value)}" for name, value in sorted(parameters.items())
    )


def rpc_string_to_sign(method: str, parameters: Mapping[str, str]) -> str:
    """Return the string to sign of signature version 1.0: all parameters except the signature."""
    signed = {name: value for name, value in parameters.items() if name != "Signature"}
    return f"{method}&{percent_encode('/')}&{percent_encode(canonical_query(signed))}"


def rpc_signature(method: str, parameters: Mapping[str, str], secret: str) -> str:
    """Return the signature version 1.0 (HMAC-SHA1) of a request, in Base64."""
    text = rpc_string_to_sign(method, parameters)
    return b64encode(hmac.digest(f"{secret}&".encode(), text.encode(), "sha1")).decode()


def acs3_canonical_request(
    *,
    method: str,
    path: str,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    signed_headers: Iterable[str],
    payload_hash: str,
) -> str:
    """Return the canonical request of signature version 3."""
    names = sorted(signed_headers)
    lines = [f"{name}:{headers.get(name, '').strip()}\n" for name in names]
    return "\n".join(
        [method, path, canonical_query(query), "".join(lines), ";".join(names), payload_hash]
    )


def acs3_signature(canonical_request: str, secret: str) -> str:
    """Return the signature version 3 (ACS3-HMAC-SHA256) of a canonical request, in hexadecimal."""
    text = f"ACS3-HMAC-SHA256\n{hashlib.sha256(canonical_request.encode()).hexdigest()}"
    return hmac.digest(secret.encode(), text.encode(), "sha256").hex()
