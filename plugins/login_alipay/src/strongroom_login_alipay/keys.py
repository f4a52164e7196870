"""Reads RSA keys as PEM or bare base64, private ones as PKCS#1 or PKCS#8."""

import re
from base64 import b64decode
from functools import lru_cache
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_private_key, load_der_public_key

_MINIMUM: Final = 2048
"""Bits, as RSA2 requires."""

_MARKS: Final = re.compile(r"-----(BEGIN|END) [A-Z ]+-----|\s")


@lru_cache(maxsize=8)  # OpenSSL checks the primes, and both the options and the provider read the key.
def private_key(text: str) -> RSAPrivateKey:
    """Return the private key in a text.

    Raises:
        ValueError: it is no RSA key of at least 2048 bits.
    """
    try:
        key = load_der_private_key(_decode(text), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    # Raised outside the handler, because the exception may contain parts of the key.
    if not isinstance(key, RSAPrivateKey) or key.key_size < _MINIMUM:
        raise ValueError("must be an RSA private key of at least 2048 bits, as PEM or base64")
    return key


def public_key(text: str) -> RSAPublicKey:
    """Return the public key in a text.

    Raises:
        ValueError: it is no RSA key of at least 2048 bits.
    """
    try:
        key = load_der_public_key(_decode(text))
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPublicKey) or key.key_size < _MINIMUM:
        raise ValueError("must be an RSA public key of at least 2048 bits, as PEM or base64")
    return key


def _decode(text: str) -> bytes:
    # The structures of private keys differ in their content, so the marks are not needed.
    return b64decode(_MARKS.sub("", text), validate=True)
