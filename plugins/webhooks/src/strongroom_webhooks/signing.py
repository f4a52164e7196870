"""Signatures of Standard Webhooks 1.0: HMAC-SHA-256 (``v1``) and Ed25519 (``v1a``)."""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """The keys of one endpoint: every message has both signatures, and the receiver checks either.

    Args:
        secret: the shared key of ``v1``.
        seed: the private key of ``v1a``.
        valid_until: the end of an overlap after a rotation, in milliseconds; ``None``: not rotated.
    """

    secret: bytes = field(repr=False)
    seed: bytes = field(repr=False)
    valid_until: int | None = None

    @classmethod
    def create(cls) -> Self:
        """Return new random keys."""
        return cls(secrets.token_bytes(_SECRET_BYTES), secrets.token_bytes(_SECRET_BYTES))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the keys from :meth:`json`."""
        return cls(b64decode(value["v1"]), b64decode(value["v1a"]), value["until"])

    def json(self) -> dict[str, Any]:
        """Return the keys as JSON, to be encrypted."""
        return {"v1": _base64(self.secret), "v1a": _base64(self.seed), "until": self.valid_until}

    @property
    def shown_secret(self) -> str:
        """The form of the shared key that receivers configure."""
        return f"whsec_{_base64(self.secret)}"

    @property
    def shown_public_key(self) -> str:
        """The form of the public key that receivers configure."""
        return f"whpk_{_base64(self._private_key.public_key().public_bytes_raw())}"

    def sign(self, content: bytes) -> list[str]:
        """Return both signatures of a content."""
        symmetric = hmac.digest(self.secret, content, "sha256")
        return [f"v1,{_base64(symmetric)}", f"v1a,{_base64(self._private_key.sign(content))}"]

    @property
    def _private_key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)


def signed_headers(
    keys: Sequence[SigningKeys], message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    """Return the headers of a message.

    Args:
        keys: the valid keys; during a rotation the receiver accepts the signature of either.
        message_id: the same for all attempts: receivers recognize repetitions by it.
        timestamp: the time of this attempt, in seconds since the Unix epoch.
        body: exactly the bytes that are sent.
    """
    content = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(item for key in keys for item in key.sign(content)),
    }


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
