"""Verifies signed and decrypts encrypted data of mini programs, with the session key of a login."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES128
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.padding import PKCS7

from strongroom_login_oauth.strict_json import parse_object
from strongroom_login_wechat.errors import DataInvalid

CLOCK_SKEW = 60
"""Seconds by which the platform's clock may be ahead of the server's."""

_BLOCK_BITS = 128


def sign(raw_data: str, session_key: str) -> str:
    """Return the platform's signature of ``raw_data``, in lowercase hexadecimal."""
    return hashlib.sha1((raw_data + session_key).encode()).hexdigest()  # noqa: S324  the platform's choice


def check_signature(raw_data: str, signature: str, session_key: str) -> None:
    """Verify the signature of ``raw_data``.

    Raises:
        DataInvalid: the signature does not match.
    """
    if not hmac.compare_digest(sign(raw_data, session_key).encode(), signature.encode()):
        raise DataInvalid("the signature does not match the data")


def decrypt(encrypted_data: str, iv: str, session_key: str) -> Mapping[str, Any]:
    """Return the JSON object in ``encrypted_data``; all three arguments are Base64.

    Raises:
        DataInvalid: it was not encrypted with this key. The cause is not reported, because a client
            could use it as a padding oracle.
    """
    try:
        cipher = Cipher(AES128(_decoded(session_key)), CBC(_decoded(iv)))
        decryptor, unpadder = cipher.decryptor(), PKCS7(_BLOCK_BITS).unpadder()
        padded = decryptor.update(_decoded(encrypted_data)) + decryptor.finalize()
        return parse_object(unpadder.update(padded) + unpadder.finalize())
    except ValueError:
        pass
    # Raised outside the handler, because the parser's exception contains the data.
    raise DataInvalid("the data does not decrypt")


def check_watermark(members: Mapping[str, Any], *, appid: str, now: float, max_age: float) -> None:
    """Verify the app and age of decrypted data; times are in seconds since the Unix epoch.

    Raises:
        DataInvalid: the data is for another app, too old, or from the future.
    """
    watermark = members.get("watermark")
    if not isinstance(watermark, dict):
        raise DataInvalid("the data has no watermark")
    if not hmac.compare_digest(str(watermark.get("appid")).encode(errors="replace"), appid.encode()):
        raise DataInvalid("the data belongs to another app")
    timestamp = watermark.get("timestamp")
    if not isinstance(timestamp, int) or not now - max_age <= timestamp <= now + CLOCK_SKEW:
        raise DataInvalid("the timestamp of the data is out of range")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
