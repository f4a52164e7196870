"""RSA keys, in the forms in which the platform and its tools hand them out."""

from base64 import b64decode, b64encode
from functools import cached_property
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import (
    RSAPrivateKey,
    RSAPublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

_BITS: Final = 2048
_PRIVATE: Final = {"PKCS#8": PrivateFormat.PKCS8, "PKCS#1": PrivateFormat.TraditionalOpenSSL}


class KeyPair:
    """A private key of 2048 bits, as RSA2 requires, and its public key."""

    def __init__(self) -> None:
        self._private = generate_private_key(public_exponent=65537, key_size=_BITS)

    @cached_property
    def public(self) -> RSAPublicKey:
        """The public key."""
        return self._private.public_key()

    @property
    def private(self) -> RSAPrivateKey:
        """The private key."""
        return self._private

    def private_text(self, structure: str = "PKCS#8", *, is_pem: bool = True) -> str:
        """Return the private key as PEM or bare base64, in ``PKCS#8`` or ``PKCS#1``."""
        encoding = Encoding.PEM if is_pem else Encoding.DER
        encoded = self._private.private_bytes(encoding, _PRIVATE[structure], NoEncryption())
        return encoded.decode() if is_pem else b64encode(encoded).decode()

    def public_text(self, *, is_pem: bool = True) -> str:
        """Return the public key as PEM or bare base64."""
        encoding = Encoding.PEM if is_pem else Encoding.DER
        encoded = self.public.public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)
        return encoded.decode() if is_pem else b64encode(encoded).decode()

    def sign(self, content: bytes) -> str:
        """Return the RSA2 signature in base64."""
        return b64encode(self._private.sign(content, PKCS1v15(), SHA256())).decode()


def verifies(key: RSAPublicKey, signature: str, content: bytes) -> bool:
    """Return whether a signature of the type RSA2 is right."""
    try:
        key.verify(b64decode(signature, validate=True), content, PKCS1v15(), SHA256())
    except (InvalidSignature, ValueError):
        return False
    return True
