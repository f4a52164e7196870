"""Keys that sign ID tokens, with rotation."""

import secrets
from collections.abc import Mapping

from joserfc import jwt
from joserfc.jwk import ECKey, KeyParameters, RSAKey

CURVES = {"ES256": "P-256", "ES384": "P-384"}


class SigningKeys:
    """Signs with the newest key, and publishes all keys that were not withdrawn.

    Args:
        algorithm: such as ``RS256`` or ``ES384``.
    """

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm
        self._keys = [self._new()]

    def rotate(self, *, withdraw: bool = False) -> None:
        """Sign with a new key from now on.

        Args:
            withdraw: whether the keys so far are published no longer.
        """
        self._keys = [self._new(), *([] if withdraw else self._keys)]

    def sign(self, claims: Mapping[str, object]) -> str:
        """Return a JWT of these claims."""
        key = self._keys[0]
        header = {"alg": self.algorithm, "kid": key.kid, "typ": "JWT"}
        return jwt.encode(header, dict(claims), key, algorithms=[self.algorithm])

    def published(self) -> dict[str, object]:
        """Return the JWK Set (RFC 7517, 5)."""
        return {"keys": [key.as_dict(private=False) for key in self._keys]}

    def _new(self) -> RSAKey | ECKey:
        parameters: KeyParameters = {
            "kid": secrets.token_hex(8),
            "use": "sig",
            "alg": self.algorithm,
        }
        if curve := CURVES.get(self.algorithm):
            return ECKey.generate_key(curve, parameters)
        return RSAKey.generate_key(2048, parameters)
