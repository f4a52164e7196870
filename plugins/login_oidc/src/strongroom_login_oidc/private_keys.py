"""The private key of a client, for ``private_key_jwt`` (OpenID Connect Core 1.0, section 9)."""

from pathlib import Path

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from strongroom_login_oauth.strict_json import parse_object

_TYPES = ("RSA", "EC", "OKP")


def read_private_key(path: Path | None, kid: str | None) -> RSAKey | ECKey | OKPKey | None:
    """Read a key from a file with PEM or a JWK.

    Raises:
        ValueError: there is no private key in it; the message does not have its content.
    """
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"private_key_file: cannot be read: {error.strerror}") from None
    for kind in _TYPES:
        key = _read(content, kind, kid)
        if key is not None:
            return key
    raise ValueError("private_key_file: has no private key as PEM or JWK")


def _read(content: bytes, kind: str, kid: str | None) -> RSAKey | ECKey | OKPKey | None:
    try:
        data = parse_object(content) if content.lstrip().startswith(b"{") else content
        key = JWKRegistry.import_key(data, kind, {"kid": kid} if kid else None)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return key if isinstance(key, RSAKey | ECKey | OKPKey) and key.is_private else None
