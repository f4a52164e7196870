"""A browser with an authenticator, in software: the other side of the ceremonies of WebAuthn.

Written from the specification (https://www.w3.org/TR/webauthn-3/) with no code of a server. It answers
the options of a server as a page would receive them from ``navigator.credentials``, and does wrong what
:class:`Faults` says::

    authenticator = SoftwareAuthenticator("https://files.example.com")
    created = authenticator.create(shown["publicKey"])
    right = authenticator.get(challenge["publicKey"])
    wrong = authenticator.get(challenge["publicKey"], Faults(cross_origin=True))
"""

import copy
import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.x509.oid import NameOID

Json = dict[str, Any]

PRESENT: Final = 1 << 0
VERIFIED: Final = 1 << 2
BACKUP_ELIGIBLE: Final = 1 << 3
BACKED_UP: Final = 1 << 4
ATTESTED: Final = 1 << 6
EXTENSIONS: Final = 1 << 7
"""The flags of authenticator data (WebAuthn, section 6.1)."""

Algorithm = Literal[-7, -8, -257]
ES256: Final = -7
EDDSA: Final = -8
RS256: Final = -257

_PrivateKey = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


class AuthenticatorRefused(Exception):
    """The authenticator or the browser does not answer these options."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of an authenticator or browser. They are signed, except those named ``edit``.

    Args:
        client_data: members of the client data that differ; ``None`` removes one.
        cross_origin: whether the page is in a frame of another origin.
        rp_id: the domain that the authenticator data is for.
        flags_on: flags that are set.
        flags_off: flags that are not set.
        count: the counter.
        extra_data: bytes after the authenticator data.
        user_handle: the user handle; an empty text removes it.
        key: a COSE_Key that is registered instead of the credential's.
        credential_id: an id that is registered instead of the credential's.
        fmt: the name of the attestation statement's format.
        signed_by: the authenticator whose key signs.
        edit_signature: changes the signature.
        edit: changes the JSON.
    """

    client_data: Mapping[str, Any] = field(default_factory=dict)
    cross_origin: bool | None = None
    rp_id: str | None = None
    flags_on: int = 0
    flags_off: int = 0
    count: int | None = None
    extra_data: bytes = b""
    user_handle: str | None = None
    key: bytes | None = None
    credential_id: bytes | None = None
    fmt: str | None = None
    signed_by: "SoftwareAuthenticator | None" = None
    edit_signature: Callable[[bytes], bytes] | None = None
    edit: Callable[[Json], Any] | None = None


NO_FAULTS: Final = Faults()


@dataclass(slots=True)
class SoftwareCredential:
    """A discoverable credential of an authenticator."""

    id: bytes
    rp_id: str
    user_handle: bytes
    private_key: _PrivateKey
    count: int = 0


class AttestationAuthority:
    """A vendor of authenticators, whose root certificate :attr:`root` is in PEM."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        name = _distinguished_name("Root")
        self._root = _certificate(name, name, self._key.public_key(), self._key, is_authority=True)
        self.root: bytes = self._root.public_bytes(serialization.Encoding.PEM)

    def issue(self) -> tuple[ec.EllipticCurvePrivateKey, bytes]:
        """Return a key for attestations, and its certificate in DER (WebAuthn, section 8.2.1)."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _distinguished_name("Authenticator")
        certificate = _certificate(
            subject, self._root.subject, key.public_key(), self._key, is_authority=False
        )
        return key, certificate.public_bytes(serialization.Encoding.DER)


class SoftwareAuthenticator:
    """A browser on a page of one origin, with an authenticator that verifies its user.

    Args:
        origin: the origin of the page.
        algorithm: the COSE algorithm of new keys.
        is_synced: whether the credentials are copied to other devices, and so have no counter.
        attestation: the vendor that attests it; without one, it attests nothing.
    """

    def __init__(
        self,
        origin: str,
        *,
        algorithm: Algorithm = ES256,
        is_synced: bool = True,
        attestation: AttestationAuthority | None = None,
    ) -> None:
        self.origin = origin
        self.algorithm = algorithm
        self.is_synced = is_synced
        self.attestation = attestation
        self.credentials: list[SoftwareCredential] = []

    def clone(self) -> "SoftwareAuthenticator":
        """Return a copy of the device, with its keys and counters."""
        cloned = copy.copy(self)
        cloned.credentials = [replace(credential) for credential in self.credentials]
        return cloned

    def create(self, options: Mapping[str, Any], faults: Faults = NO_FAULTS) -> Any:
        """Do ``navigator.credentials.create``; return the result of ``toJSON()``.

        Args:
            options: the JSON of the options (``PublicKeyCredentialCreationOptionsJSON``).
            faults: what to do wrong.

        Raises:
            AuthenticatorRefused: it has one of the excluded credentials, lacks the algorithm, or the
                page may not use the domain.
        """
        rp_id = self._domain(options["rp"].get("id"))
        held = {encode(credential.id) for credential in self.credentials}
        if held & {each["id"] for each in options.get("excludeCredentials", ())}:
            raise AuthenticatorRefused("has an excluded credential")
        if self.algorithm not in {each["alg"] for each in options["pubKeyCredParams"]}:
            raise AuthenticatorRefused("lacks the algorithms")
        credential = SoftwareCredential(
            secrets.token_bytes(32), rp_id, decode(options["user"]["id"]), _new_key(self.algorithm)
        )
        self.credentials.append(credential)
        client_data = self._client_data("webauthn.create", options, faults)
        identifier = credential.id if faults.credential_id is None else faults.credential_id
        attested = bytes(16) + len(identifier).to_bytes(2, "big") + identifier
        attested += _cose_key(credential.private_key) if faults.key is None else faults.key
        data = self._data(credential, ATTESTED, attested, faults)
        fmt, statement = self._attestation(options, data + hashlib.sha256(client_data).digest())
        attestation = {"fmt": faults.fmt or fmt, "attStmt": statement, "authData": data}
        response = {
            "attestationObject": encode(cbor2.dumps(attestation)),
            "clientDataJSON": encode(client_data),
            "transports": ["internal", "hybrid"] if self.is_synced else ["usb"],
        }
        return _credential(identifier, response, faults)

    def get(self, options: Mapping[str, Any], faults: Faults = NO_FAULTS) -> Any:
        """Do ``navigator.credentials.get``; return the result of ``toJSON()``.

        Args:
            options: the JSON of the options (``PublicKeyCredentialRequestOptionsJSON``).
            faults: what to do wrong.

        Raises:
            AuthenticatorRefused: it has no such credential, or the page may not use the domain.
        """
        rp_id = self._domain(options.get("rpId"))
        allowed = {each["id"] for each in options.get("allowCredentials", ())}
        found = [
            credential
            for credential in self.credentials
            if credential.rp_id == rp_id and (not allowed or encode(credential.id) in allowed)
        ]
        if not found:
            raise AuthenticatorRefused("has no such credential")
        credential = found[-1]
        credential.count += 0 if self.is_synced else 1
        client_data = self._client_data("webauthn.get", options, faults)
        data = self._data(credential, 0, b"", faults)
        signer = faults.signed_by.credentials[-1] if faults.signed_by else credential
        signature = _sign(signer.private_key, data + hashlib.sha256(client_data).digest())
        if faults.edit_signature:
            signature = faults.edit_signature(signature)
        handle = encode(credential.user_handle) if faults.user_handle is None else faults.user_handle
        response = {
            "authenticatorData": encode(data),
            "clientDataJSON": encode(client_data),
            "signature": encode(signature),
            **({"userHandle": handle} if handle else {}),
        }
        return _credential(credential.id, response, faults)

    def _domain(self, stated: str | None) -> str:
        host = urlsplit(self.origin).hostname or ""
        rp_id = stated or host
        if host != rp_id and not host.endswith(f".{rp_id}"):
            raise AuthenticatorRefused(f"a page of {host} may not use {rp_id}")
        return rp_id

    def _client_data(self, kind: str, options: Mapping[str, Any], faults: Faults) -> bytes:
        is_framed = bool(faults.cross_origin)
        members = {
            "type": kind,
            "challenge": options["challenge"],
            "origin": self.origin,
            "crossOrigin": is_framed,
            **faults.client_data,
        }
        stated = {name: value for name, value in members.items() if value is not None}
        return json.dumps(stated, separators=(",", ":")).encode()

    def _data(
        self, credential: SoftwareCredential, flags: int, attested: bytes, faults: Faults
    ) -> bytes:
        """Return the authenticator data (WebAuthn, section 6.1)."""
        flags |= PRESENT | VERIFIED
        flags |= BACKUP_ELIGIBLE | BACKED_UP if self.is_synced else 0
        flags = (flags | faults.flags_on) & ~faults.flags_off
        rp_id = credential.rp_id if faults.rp_id is None else faults.rp_id
        count = credential.count if faults.count is None else faults.count
        head = hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + count.to_bytes(4, "big")
        return head + attested + faults.extra_data

    def _attestation(self, options: Mapping[str, Any], signed: bytes) -> tuple[str, Json]:
        if self.attestation is None or options.get("attestation", "none") == "none":
            return "none", {}
        key, certificate = self.attestation.issue()
        return "packed", {"alg": ES256, "sig": _sign(key, signed), "x5c": [certificate]}


def cose_key(members: Mapping[int, Any]) -> bytes:
    """Return a COSE_Key with any members (RFC 9052, section 7)."""
    return cbor2.dumps(dict(members))


def _credential(identifier: bytes, response: Json, faults: Faults) -> Any:
    credential = {
        "id": encode(identifier),
        "rawId": encode(identifier),
        "type": "public-key",
        "authenticatorAttachment": "platform",
        "clientExtensionResults": {},
        "response": response,
    }
    return faults.edit(credential) if faults.edit else credential


def _new_key(algorithm: int) -> _PrivateKey:
    if algorithm == ES256:
        return ec.generate_private_key(ec.SECP256R1())
    if algorithm == EDDSA:
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _cose_key(key: _PrivateKey) -> bytes:
    """Return the public key as a COSE_Key (RFC 9053, section 7)."""
    if isinstance(key, ec.EllipticCurvePrivateKey):
        point = key.public_key().public_numbers()
        x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
        return cose_key({1: 2, 3: ES256, -1: 1, -2: x, -3: y})
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return cose_key({1: 1, 3: EDDSA, -1: 6, -2: key.public_key().public_bytes_raw()})
    numbers = key.public_key().public_numbers()
    n, e = numbers.n.to_bytes(key.key_size // 8, "big"), numbers.e.to_bytes(3, "big")
    return cose_key({1: 3, 3: RS256, -1: n, -2: e})


def _sign(key: _PrivateKey, data: bytes) -> bytes:
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return key.sign(data, ec.ECDSA(hashes.SHA256()))
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(data)
    return key.sign(data, padding.PKCS1v15(), hashes.SHA256())


def _distinguished_name(common_name: str) -> x509.Name:
    parts: Sequence[tuple[x509.ObjectIdentifier, str]] = (
        (NameOID.COUNTRY_NAME, "CN"),
        (NameOID.ORGANIZATION_NAME, "Test"),
        (NameOID.ORGANIZATIONAL_UNIT_NAME, "Authenticator Attestation"),
        (NameOID.COMMON_NAME, common_name),
    )
    return x509.Name([x509.NameAttribute(identifier, value) for identifier, value in parts])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    signed_by: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .sign(signed_by, hashes.SHA256())
    )


def encode(data: bytes) -> str:
    """Encode base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Decode base64url without padding."""
    return urlsafe_b64decode(f"{text}===")
