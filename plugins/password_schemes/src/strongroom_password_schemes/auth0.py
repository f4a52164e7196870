"""``custom_password_hash`` of Auth0's imports: slow hashes, and fast digests of many systems."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.password_schemes import HashRejected, ImportedHash, Json, PasswordScheme
from strongroom_password_schemes import derivations
from strongroom_password_schemes.derivations import MAX_SALT_BYTES, require
from strongroom_password_schemes.md4 import md4
from strongroom_password_schemes.members import (
    MAX_TEXT,
    get_text,
    is_exported,
    read_object,
    read_whole,
    to_base64,
    unbase64,
)
from strongroom_password_schemes.standard import log2_of

_SLOW: Final = ("argon2", "bcrypt", "pbkdf2")
_DIGESTS: Final = ("md4", "md5", "sha1", "sha256", "sha512")
_PASSWORD_ENCODINGS: Final = {
    "utf8": "utf-8",
    "utf-8": "utf-8",
    "ascii": "utf-8",
    "utf16le": "utf-16-le",
    "ucs2": "utf-16-le",
    "latin1": "latin-1",
    "binary": "latin-1",
}
# The digests of LDAP's userPassword (RFC 2307); a salt follows the digest.
_LDAP: Final = {
    "MD5": "md5",
    "SMD5": "md5",
    "SHA": "sha1",
    "SSHA": "sha1",
    "SHA256": "sha256",
    "SSHA256": "sha256",
    "SHA512": "sha512",
    "SSHA512": "sha512",
}


class Auth0(PasswordScheme):
    """The member ``custom_password_hash`` of a user in an import of Auth0.

    ``md4``, ``md5``, ``sha1``, ``sha256``, ``sha512``, ``hmac`` and ``ldap`` are digests; the text has
    their parameters as JSON.
    """

    name = "auth0"

    def parse(self, described: Json) -> ImportedHash:
        if is_exported(described):
            stored = get_text(described, "hash")
            return ImportedHash(stored, derivations.read_cost(stored))
        custom = read_object(described, "custom_password_hash")
        algorithm, hashed = get_text(custom, "algorithm"), read_object(custom, "hash")
        if algorithm in _SLOW:
            stored = get_text(hashed, "value")
            cost = derivations.read_cost(stored)
            require(holds=cost.startswith(algorithm), rule=f"hash.value must be of {algorithm}")
            return ImportedHash(stored, cost)
        if algorithm == "scrypt":
            stored = _phc_of_scrypt(custom, hashed)
            return ImportedHash(stored, derivations.scrypt_cost(stored))
        return _of_digest(algorithm, custom, hashed)

    def verify(self, password: str, stored: str) -> bool:
        return derivations.matches(password.encode(), stored)

    def digest(self, password: str, stored: str) -> str:
        parameters = json.loads(stored)
        secret = _encode(password, parameters["encoding"])
        before, after, key = (bytes.fromhex(parameters[name]) for name in ("before", "after", "key"))
        return _digest(parameters["algorithm"], before + secret + after, key).hex()


def _encode(password: str, encoding: str) -> bytes:
    # A character that the encoding lacks makes the password a wrong one.
    return password.encode(encoding, "replace")


def _phc_of_scrypt(custom: Json, hashed: Json) -> str:
    salt = _decoded(read_object(custom, "salt"), "salt")
    derived = _decoded(hashed, "hash", "base64")
    log_n = log2_of(str(read_whole(custom, "cost")))
    r, p = read_whole(custom, "blockSize"), read_whole(custom, "parallelization")
    rule = "keylen must be the bytes of the hash"
    require(holds=read_whole(custom, "keylen", len(derived)) == len(derived), rule=rule)
    return f"$scrypt$ln={log_n},r={r},p={p}${to_base64(salt)}${to_base64(derived)}"


def _of_digest(algorithm: str, custom: Json, hashed: Json) -> ImportedHash:
    encoding = get_text(read_object(custom, "password", is_optional=True), "encoding", "utf8")
    require(holds=encoding in _PASSWORD_ENCODINGS, rule="password.encoding is unknown")
    if algorithm == "ldap":
        return _of_ldap(hashed, _PASSWORD_ENCODINGS[encoding])
    salt, place = _read_salt(custom)
    key, name = b"", algorithm
    if algorithm == "hmac":
        key, name = _decoded(read_object(hashed, "key"), "hash.key"), get_text(hashed, "digest")
        require(holds=bool(key), rule="hash.key must not be empty")
    parameters = {place: salt, "key": key}
    digest = _decoded(hashed, "hash", "hex")
    return _wrapped(name, digest, _PASSWORD_ENCODINGS[encoding], parameters)


def _read_salt(custom: Json) -> tuple[bytes, str]:
    """Return the salt, and whether it stands before or after the password."""
    described = read_object(custom, "salt", is_optional=True)
    position = get_text(described, "position", "prefix")
    require(holds=position in ("prefix", "suffix"), rule="salt.position must be prefix or suffix")
    salt = _decoded(described, "salt") if described else b""
    return salt, "before" if position == "prefix" else "after"


def _of_ldap(hashed: Json, encoding: str) -> ImportedHash:
    scheme, _, encoded = get_text(hashed, "value").removeprefix("{").partition("}")
    name, content = _LDAP.get(scheme.upper(), ""), unbase64(encoded)
    size = len(_digest(name, b"", b""))
    return _wrapped(name, content[:size], encoding, {"after": content[size:]})


def _wrapped(name: str, digest: bytes, encoding: str, parameters: Mapping[str, bytes]) -> ImportedHash:
    rule = "hash.value must be as long as the digest"
    require(holds=len(digest) == len(_digest(name, b"", b"")), rule=rule)
    require(
        holds=all(len(part) <= MAX_SALT_BYTES for part in parameters.values()), rule="salt: too long"
    )
    texts = {part: parameters.get(part, b"").hex() for part in ("before", "after", "key")}
    stored = {"algorithm": name, "encoding": encoding, **texts}
    return ImportedHash(json.dumps(stored, separators=(",", ":")), name, digest.hex())


def _digest(name: str, content: bytes, key: bytes) -> bytes:
    if name not in _DIGESTS or (key and name == "md4"):
        raise HashRejected(f"algorithm must be one of: {', '.join(_DIGESTS)}")
    if key:
        return hmac.digest(key, content, name)
    return md4(content) if name == "md4" else hashlib.new(name, content).digest()


def _decoded(described: Json, name: str, encoding: str = "utf8") -> bytes:
    """Return the bytes of an object with ``value`` and ``encoding``."""
    encoding = get_text(described, "encoding", encoding)
    if encoding == "base64":
        return unbase64(get_text(described, "value"), name)
    if encoding == "hex":
        return _unhex(get_text(described, "value"), name)
    require(holds=encoding in ("utf8", "utf-8"), rule=f"{name}.encoding must be hex, base64 or utf8")
    return _utf8(described.get("value"), name)


def _unhex(text: str, name: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise HashRejected(f"{name}.value must be hexadecimal") from error


def _utf8(value: Any, name: str) -> bytes:
    # The only members that may have other characters than ASCII: a salt or a key that is text.
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise HashRejected(f"{name}.value must be text of at most {MAX_TEXT} characters")
    return value.encode("utf-8", "replace")
