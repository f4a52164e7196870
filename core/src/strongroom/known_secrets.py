"""Detects published secrets: those of documents, examples and test fixtures."""

import re
from typing import Final

from joserfc.jwk import OctKey, RSAKey

from strongroom.sessions.keys import Key

_FEWEST_DIFFERENT: Final = 12
"""The minimum number of distinct bytes; 32 random bytes or characters practically always have more."""

_WORDS: Final = re.compile(
    rb"change[-_ ]?(me|this|it)|your[-_ \w]{0,20}(secret|key)|example|sample|placeholder|insecure"
    rb"|default|password|0123456789abcdef|abcdefghijklm|supersecret|secret[-_ ]?key|for[-_ ]?test",
    re.IGNORECASE,
)

_PUBLISHED: Final = frozenset(
    {
        # The HMAC keys of RFC 7515, appendix A.1, and RFC 7520, section 3.5.
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
        "hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg",
    }
)

_PUBLISHED_MODULI: Final = (
    # The first digits of the moduli, in base64url, of the RSA keys of
    # RFC 7515, appendix A.2; RFC 7517, appendix A; and RFC 7520, section 3.4.
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp",
    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86z",
    "n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRoj",
)


def is_sample_secret(secret: str) -> bool:
    """Return whether a secret is a known sample, or was typed by hand instead of generated."""
    return _is_sample(secret.encode())


def is_sample_key(key: Key) -> bool:
    """Return whether a signing key was published, or was typed by hand instead of generated."""
    if isinstance(key, RSAKey):
        return str(key.as_dict(private=False)["n"]).startswith(_PUBLISHED_MODULI)
    return _is_published(key) or _is_sample(key.raw_value)


def _is_published(key: OctKey) -> bool:
    return str(key.as_dict(private=True)["k"]) in _PUBLISHED


def _is_sample(secret: bytes) -> bool:
    return len(set(secret)) < _FEWEST_DIFFERENT or _WORDS.search(secret) is not None
