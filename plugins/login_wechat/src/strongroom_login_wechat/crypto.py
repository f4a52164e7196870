"""Signed and encrypted data of mini programs, both under the session key of a login."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES128
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.padding import PKCS7

from strongroom_login_wechat.errors import DataInvalid

CLOCK_SKEW = 60
"""Seconds by which the platform's clock may be ahead of ours."""

_BLOCK_BITS = 128


def sign(raw_data: str, session_key: str) -> str:
    """Return the platform's signature of ``raw_data``, in lowercase hexadecimal."""
    return hashlib.sha1((raw_data + session_key).encode()).hexdigest()  # noqa: S324  the platform's choice


def check_signature(raw_data: str, signature: str, session_key: str) -> None:
    """Return if the signature is right.

    Raises:
        DataInvalid: it is not.
    """
    if not hmac.compare_digest(sign(raw_data, session_key).encode(), signature.encode()):
        raise DataInvalid("the signature does not fit the data")


def decrypt(encrypted_data: str, iv: str, session_key: str) -> Mapping[str, Any]:
    """Return the JSON object that ``encrypted_data`` holds; all three arguments are Base64.

    Raises:
        DataInvalid: it was not encrypted under this key. Nothing tells how it failed, so that a
            client learns nothing about the padding.
    """
    try:
        cipher = Cipher(AES128(_decoded(session_key)), CBC(_decoded(iv)))
        decryptor, unpadder = cipher.decryptor(), PKCS7(_BLOCK_BITS).unpadder()
        padded = decryptor.update(_decoded(encrypted_data)) + decryptor.finalize()
        members = json.loads(unpadder.update(padded) + unpadder.finalize())
    except (ValueError, binascii.Error):
        members = None
    if not isinstance(members, dict):
        raise DataInvalid("the data does not decrypt")
    return members


def check_watermark(members: Mapping[str, Any], *, appid: str, now: float, max_age: float) -> None:
    """Return if decrypted data is of this app and fresh; times are in seconds since the Unix epoch.

    Raises:
        DataInvalid: it is not.
    """
    watermark = members.get("watermark")
    if not isinstance(watermark, dict):
        raise DataInvalid("the data carries no watermark")
    if not hmac.compare_digest(str(watermark.get("appid")).encode(), appid.encode()):
        raise DataInvalid("the data is of another app")
    timestamp = watermark.get("timestamp")
    if not isinstance(timestamp, int) or not now - max_age <= timestamp <= now + CLOCK_SKEW:
        raise DataInvalid("the data is not of this moment")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
