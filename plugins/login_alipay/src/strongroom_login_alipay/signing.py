"""Signatures of the type RSA2: SHA256withRSA (RFC 8017, section 8.2) in base64."""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256


def signature(key: RSAPrivateKey, parameters: Mapping[str, str]) -> str:
    """Return the signature of a request: over the raw values, sorted by name, without empty ones."""
    present = sorted((name, value) for name, value in parameters.items() if value)
    text = "&".join(f"{name}={value}" for name, value in present)
    return b64encode(key.sign(text.encode(), PKCS1v15(), SHA256())).decode()


def is_signed(key: RSAPublicKey, content: bytes, sign: str) -> bool:
    """Return whether ``sign`` is the signature of an answer's content."""
    try:
        key.verify(b64decode(sign, validate=True), content, PKCS1v15(), SHA256())
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return True
