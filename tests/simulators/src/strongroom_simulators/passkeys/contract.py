"""Contract tests for passkeys: a server must refuse several hundred forged ceremonies.

Each value of a response is missing, of another type, truncated, swapped or of another user; each flag,
counter, origin, domain, algorithm and key is wrong, whether signed or not. The forger controls what the
network sends, has an account with a passkey, and in the signed cases the victim's browser::

    for name, forge in forged_logins().items():
        assert server_refuses(forge(Forger(device, other, options, used, created)))
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import cbor2
import pytest

from strongroom.plugin_api.factors import (
    Ceremony,
    EnrolledFactor,
    FactorAlarm,
    FactorProof,
    FactorRejected,
    FactorUser,
    PasswordlessFactor,
)
from strongroom.testing.factors import GARBAGE, USER, PasswordlessFactorContract
from strongroom_simulators.passkeys.authenticator import (
    ATTESTED,
    BACKED_UP,
    BACKUP_ELIGIBLE,
    EDDSA,
    ES256,
    EXTENSIONS,
    PRESENT,
    RS256,
    VERIFIED,
    Faults,
    Json,
    SoftwareAuthenticator,
    cose_key,
    decode,
    encode,
)

OVERSIZED: Final = "A" * 20_000
"""More characters than the JSON of an answer may have."""


@dataclass(frozen=True, slots=True)
class Forger:
    """The means of an attacker who forges an answer.

    Args:
        device: the victim's authenticator, enrolled.
        other: the forger's own, enrolled by another user; in registrations, one that is not enrolled.
        options: the options of the ceremony.
        used: an answer that the victim has logged in with before.
        created: the answer that has enrolled the victim's passkey.
    """

    device: SoftwareAuthenticator
    other: SoftwareAuthenticator
    options: Mapping[str, Any]
    used: Mapping[str, Any]
    created: Mapping[str, Any]


Forgery = Callable[[Forger], Any]
_Text = Callable[[str, str], Any]

_MISSING: Final = object()

_EDITS: Final[Mapping[str, _Text]] = {
    "missing": lambda _, __: _MISSING,
    "null": lambda _, __: None,
    "empty": lambda _, __: "",
    "a number": lambda _, __: 7,
    "a fraction": lambda _, __: -1.5,
    "a boolean": lambda _, __: True,
    "a list": lambda text, _: [text],
    "an object": lambda text, _: {"value": text},
    "truncated": lambda text, _: text[:-4],
    "without its head": lambda text, _: text[4:],
    "doubled": lambda text, _: text + text,
    "padded": lambda text, _: text + "==",
    "spaced": lambda text, _: f"{text[:8]} {text[8:]}",
    "on a new line": lambda text, _: f"\n{text}",
    "reversed": lambda text, _: text[::-1],
    "with another first bit": lambda text, _: _flipped(text, 0),
    "with another last bit": lambda text, _: _flipped(text, -1),
    "of another user": lambda _, other: other,
    "oversized": lambda _, __: OVERSIZED,
    "in Chinese": lambda _, __: "验证码" * 8,
    "with a NUL": lambda text, _: f"\0{text}",
}
"""What happens to a value in base64url: of the victim, and the same of the forger."""

_KINDS: Final[Mapping[str, Any]] = {
    "missing": _MISSING,
    "null": None,
    "empty": "",
    "a number": 7,
    "a list": [],
    "an object": {},
    "text": "other",
}

_CLIENT_DATA: Final[Mapping[str, Mapping[str, Any]]] = {
    "no type": {"type": None},
    "an empty type": {"type": ""},
    "a number as type": {"type": 7},
    "the type of payments": {"type": "payment.get"},
    "the type in upper case": {"type": "WEBAUTHN.GET"},
    "no challenge": {"challenge": None},
    "an empty challenge": {"challenge": ""},
    "a short challenge": {"challenge": "AAAA"},
    "a number as challenge": {"challenge": 7},
    "a list as challenge": {"challenge": []},
    "another challenge": {"challenge": "A" * 43},
    "no origin": {"origin": None},
    "an empty origin": {"origin": ""},
    "the origin null": {"origin": "null"},
    "a list of origins": {"origin": ["https://evil.example"]},
    "another origin": {"origin": "https://evil.example"},
    "a longer domain": {"origin": "https://files.example.com.evil.example"},
    "a subdomain": {"origin": "https://evil.files.example.com"},
    "the parent domain": {"origin": "https://example.com"},
    "no TLS": {"origin": "http://files.example.com"},
    "another port": {"origin": "https://files.example.com:8443"},
    "a path": {"origin": "https://files.example.com/"},
    "an origin in upper case": {"origin": "HTTPS://FILES.EXAMPLE.COM"},
    "an app as origin": {"origin": "android:apk-key-hash:AAAA"},
    "a frame of another origin": {"crossOrigin": True},
    "text for crossOrigin": {"crossOrigin": "false"},
    "null for crossOrigin": {"crossOrigin": 0},
    "an origin on top": {"topOrigin": "https://evil.example"},
    "a frame and an origin on top": {"crossOrigin": True, "topOrigin": "https://evil.example"},
}

_DATA: Final[Mapping[str, Faults]] = {
    "another domain": Faults(rp_id="evil.example"),
    "the parent as domain": Faults(rp_id="com"),
    "no domain": Faults(rp_id=""),
    "the origin as domain": Faults(rp_id="https://files.example.com"),
    "user absent": Faults(flags_off=PRESENT),
    "user not verified": Faults(flags_off=VERIFIED),
    "neither present nor verified": Faults(flags_off=PRESENT | VERIFIED),
    "a backup of what cannot be copied": Faults(flags_off=BACKUP_ELIGIBLE, flags_on=BACKED_UP),
    "announced extensions": Faults(flags_on=EXTENSIONS),
    "a byte too many": Faults(extra_data=b"\0"),
    "many bytes too many": Faults(extra_data=bytes(1000)),
}


def forged_logins() -> dict[str, Forgery]:
    """Return forged answers to a login, by their fault."""
    forgeries: dict[str, Forgery] = {
        **{f"garbage {number}": partial(_whole, value) for number, value in enumerate(GARBAGE)},
        **_edited(_log_in, ("id", "rawId"), ("clientDataJSON", "authenticatorData", "signature")),
        **{
            f"userHandle {name}": partial(_edit, _log_in, "userHandle", edit)
            for name, edit in _EDITS.items()
        },
        **{
            f"signed: {name}": partial(_signed_login, Faults(client_data=data))
            for name, data in {**_CLIENT_DATA, "a creation": {"type": "webauthn.create"}}.items()
        },
        **{f"signed: {name}": partial(_signed_login, faults) for name, faults in _DATA.items()},
        **{
            f"authenticator data with another bit in byte {number}": partial(_bit, number)
            for number in range(37)
        },
        "signed: copied from a device that cannot be copied": lambda forger: forger.device.get(
            forger.options, Faults(flags_on=BACKUP_ELIGIBLE)
        ),
        "signed: backed up from a device that cannot be copied": lambda forger: forger.device.get(
            forger.options, Faults(flags_on=BACKUP_ELIGIBLE | BACKED_UP)
        ),
        "signed: the counter of the last login": lambda forger: forger.device.get(
            forger.options, Faults(count=1)
        ),
        "signed: no counter": lambda forger: forger.device.get(forger.options, Faults(count=0)),
        "signed: announced credential data": lambda forger: forger.device.get(
            forger.options, Faults(flags_on=ATTESTED)
        ),
        "signed: the challenge with padding": lambda forger: forger.device.get(
            forger.options, Faults(client_data={"challenge": forger.options["challenge"] + "="})
        ),
        "signed: the handle of another user": lambda forger: forger.device.get(
            forger.options, Faults(user_handle=encode(forger.other.credentials[-1].user_handle))
        ),
        "signed by another key": lambda forger: forger.device.get(
            forger.options, Faults(signed_by=forger.other)
        ),
        "a used answer": lambda forger: dict(forger.used),
        "the response of a used answer": lambda forger: {
            **_log_in(forger),
            "response": forger.used["response"],
        },
        "the signature of a used answer": lambda forger: _with(
            _log_in(forger), "signature", forger.used["response"]["signature"]
        ),
        "the answer that created the passkey": lambda forger: dict(forger.created),
        "a creation for this challenge": lambda forger: {
            **_log_in(forger),
            "response": forger.created["response"],
        },
        "another passkey under this id": lambda forger: {
            **forger.other.get({**forger.options, "allowCredentials": []}),
            "id": _log_in(forger)["id"],
            "rawId": _log_in(forger)["id"],
        },
        "this passkey under another id": lambda forger: {
            **_log_in(forger),
            "id": encode(forger.other.credentials[-1].id),
            "rawId": encode(forger.other.credentials[-1].id),
        },
        "a new challenge in signed client data": _with_new_challenge,
        "a signature of nothing": lambda forger: forger.device.get(
            forger.options, Faults(edit_signature=lambda _: b"")
        ),
        "a signature of zeros": lambda forger: forger.device.get(
            forger.options, Faults(edit_signature=lambda right: bytes(len(right)))
        ),
        "a signature with a tail": lambda forger: forger.device.get(
            forger.options, Faults(edit_signature=lambda right: right + bytes(8))
        ),
    }
    return forgeries


def forged_registrations() -> dict[str, Forgery]:
    """Return forged answers to a registration, by their fault."""
    faults = {
        **{name: Faults(client_data=data) for name, data in _CLIENT_DATA.items()},
        **_DATA,
        "a login": Faults(client_data={"type": "webauthn.get"}),
        "no credential data": Faults(flags_off=ATTESTED),
        "no credential id": Faults(credential_id=b""),
        "a credential id of 1024 bytes": Faults(credential_id=bytes(1024)),
        "a credential id of 5000 bytes": Faults(credential_id=bytes(5000)),
        **{f"a key that is {name}": Faults(key=key) for name, key in _keys().items()},
        **{
            f"the attestation format {fmt!r}": Faults(fmt=fmt)
            for fmt in ("packed", "fido-u2f", "tpm", "apple", "android-key", "android-safetynet", "x")
        },
    }
    # What follows the attestation object is no part of it, and changes nothing.
    edits = _edited(_create, ("id", "rawId"), ("clientDataJSON", "attestationObject"))
    edits.pop("attestationObject doubled")
    return {
        **{f"garbage {number}": partial(_whole, value) for number, value in enumerate(GARBAGE)},
        **edits,
        **{name: partial(_faulty_creation, fault) for name, fault in faults.items()},
        **{
            f"an attestation object of {name}": partial(_attestation, value)
            for name, value in _objects().items()
        },
        "the challenge with padding": lambda forger: forger.other.create(
            forger.options, Faults(client_data={"challenge": forger.options["challenge"] + "="})
        ),
        "the answer of another user": lambda forger: dict(forger.created),
        "a login instead": lambda forger: dict(forger.used),
        "the id of another credential": lambda forger: {
            **_create(forger),
            "id": forger.created["id"],
            "rawId": forger.created["id"],
        },
    }


def _keys() -> dict[str, bytes]:
    """Return COSE keys that must not be registered."""
    x, y = bytes(31) + b"\1", bytes(31) + b"\2"
    point: dict[int, Any] = {1: 2, 3: ES256, -1: 1, -2: x, -3: y}
    exponent = (65537).to_bytes(3, "big")
    return {
        **{
            f"without {member}": cose_key({name: point[name] for name in point if name != member})
            for member in point
        },
        **{f"of algorithm {number}": cose_key({**point, 3: number}) for number in _WEAK},
        "empty": cose_key({}),
        "off the curve": cose_key(point),
        "at infinity": cose_key({**point, -2: bytes(32), -3: bytes(32)}),
        "without coordinates": cose_key({**point, -2: b"", -3: b""}),
        "of text": cose_key({**point, -2: "x", -3: "y"}),
        "of another curve": cose_key({**point, -1: 2}),
        "of an unknown curve": cose_key({**point, -1: 99}),
        "of an unknown type": cose_key({**point, 1: 99}),
        "a point for RS256": cose_key({**point, 3: RS256}),
        "a point for EdDSA": cose_key({**point, 3: EDDSA}),
        "of 31 bytes": cose_key({1: 1, 3: EDDSA, -1: 6, -2: bytes(31)}),
        "of Ed448": cose_key({1: 1, 3: EDDSA, -1: 7, -2: bytes(57)}),
        "an Edwards point for ES256": cose_key({1: 1, 3: ES256, -1: 6, -2: bytes(32)}),
        "RSA of 1024 bits": cose_key({1: 3, 3: RS256, -1: b"\xff" * 128, -2: exponent}),
        "RSA of 512 zeros": cose_key({1: 3, 3: RS256, -1: bytes(512), -2: exponent}),
        "RSA of 8192 bits": cose_key({1: 3, 3: RS256, -1: b"\xff" * 1024, -2: exponent}),
        "RSA with exponent 1": cose_key({1: 3, 3: RS256, -1: b"\xff" * 256, -2: b"\1"}),
        "RSA for ES256": cose_key({1: 3, 3: ES256, -1: b"\xff" * 256, -2: exponent}),
        "a list": cbor2.dumps([1, 2, 3]),
        "a number": cbor2.dumps(7),
        "null": cbor2.dumps(None),
        "uncompressed": b"\4" + x + y,
        "cut off": cose_key(point)[:-1],
        "followed by more": cose_key(point) + b"\0",
        "no CBOR": b"\xff\xff\xff",
        "without end": b"\x9f" * 200,
        "deeply nested": b"\x81" * 5000 + b"\0",
        "a length of many gigabytes": b"\x5b\x7f" + b"\xff" * 7,
    }


_WEAK: Final = (0, -35, -36, -37, -47, -65535, -65536, -1, 7, "ES256", None, True)
"""Algorithms that the options do not offer (RFC 9053), and values that are no algorithm."""


def _objects() -> dict[str, bytes]:
    """Return bytes that are no attestation object."""
    return {
        "nothing else": cbor2.dumps({}),
        "a list": cbor2.dumps([]),
        "a number": cbor2.dumps(7),
        "text": cbor2.dumps("none"),
        "the format only": cbor2.dumps({"fmt": "none"}),
        "no data": cbor2.dumps({"fmt": "none", "attStmt": {}}),
        "empty data": cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": b""}),
        "36 bytes of data": cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": bytes(36)}),
        "data of text": cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": "x" * 200}),
        "a numeric format": cbor2.dumps({"fmt": 7, "attStmt": {}, "authData": bytes(37)}),
        "a list as format": cbor2.dumps({"fmt": [], "attStmt": {}, "authData": bytes(37)}),
        "one byte": b"\0",
        "no CBOR": b"\xff" * 40,
        "an endless list": b"\x9f" * 4000,
        "an endless map": b"\xbf" * 4000,
        "a deep list": b"\x81" * 8000,
        "a deep tag": b"\xc1" * 8000,
        "an announced map of many members": b"\xbb" + b"\xff" * 8,
        "an announced text of many bytes": b"\x7b" + b"\xff" * 8,
        "a key twice": b"\xa2\x63fmt\x64none\x63fmt\x64none",
        "a reference to itself": b"\xd8\x1c\x81\xd8\x1d\0",
    }


def _log_in(forger: Forger) -> Json:
    answer: Json = forger.device.get(forger.options)
    return answer


def _create(forger: Forger) -> Json:
    answer: Json = forger.other.create(forger.options)
    return answer


def _signed_login(faults: Faults, forger: Forger) -> Any:
    return forger.device.get(forger.options, faults)


def _faulty_creation(faults: Faults, forger: Forger) -> Any:
    return forger.other.create(forger.options, faults)


def _attestation(value: bytes, forger: Forger) -> Any:
    return _with(_create(forger), "attestationObject", encode(value))


def _whole(value: Any, _: Forger) -> Any:
    return value


def _edited(
    make: Callable[[Forger], Json], outer: Sequence[str], inner: Sequence[str]
) -> dict[str, Forgery]:
    forgeries: dict[str, Forgery] = {
        f"{member} {name}": partial(_edit, make, member, edit)
        for member in (*outer, *inner)
        for name, edit in _EDITS.items()
    }
    for member in ("type", "response"):
        forgeries |= {
            f"{member} {name}": partial(_replaced, make, member, value) for name, value in _KINDS.items()
        }
    return forgeries


def _edit(make: Callable[[Forger], Json], member: str, edit: _Text, forger: Forger) -> Json:
    answer, others = make(forger), forger.created if make is _create else forger.used
    is_outer = member in answer
    right = answer[member] if is_outer else answer["response"][member]
    other = _of_other(forger, others, member)
    value = edit(right, other)
    return (
        _replaced(lambda _: answer, member, value, forger) if is_outer else _with(answer, member, value)
    )


def _of_other(forger: Forger, used: Mapping[str, Any], member: str) -> Any:
    """Return a value of the same kind that is not of this ceremony."""
    if member in ("id", "rawId"):
        return encode(forger.other.credentials[0].id) if used is forger.used else used["id"]
    if member == "userHandle":
        return encode(forger.other.credentials[0].user_handle)
    return used["response"][member]


def _replaced(make: Callable[[Forger], Json], member: str, value: Any, forger: Forger) -> Json:
    answer = {name: each for name, each in make(forger).items() if name != member}
    return answer if value is _MISSING else {**answer, member: value}


def _with(answer: Json, member: str, value: Any) -> Json:
    response = {name: each for name, each in answer["response"].items() if name != member}
    return {**answer, "response": response if value is _MISSING else {**response, member: value}}


def _bit(number: int, forger: Forger) -> Json:
    answer = _log_in(forger)
    return _with(answer, "authenticatorData", _flipped(answer["response"]["authenticatorData"], number))


def _with_new_challenge(forger: Forger) -> Json:
    """An answer that was used, with the challenge exchanged for the current one."""
    data = json.loads(decode(forger.used["response"]["clientDataJSON"]))
    changed = json.dumps({**data, "challenge": forger.options["challenge"]}).encode()
    return _with(dict(forger.used), "clientDataJSON", encode(changed))


def _flipped(text: str, position: int) -> str:
    data = bytearray(decode(text))
    data[position] ^= 1
    return encode(bytes(data))


_NO_HANDLE: Final = ("userHandle missing", "userHandle null")
"""Edits that are none after a first proof, which has named the user."""


class PasskeyContract(PasswordlessFactorContract):
    """The contract of passkeys: that of passwordless factors, and the refusal of forged ceremonies.

    Besides ``factor`` and ``device``, provide the fixture ``origin`` with the origin of the server.
    """

    @pytest.fixture
    def origin(self) -> str:
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.mark.parametrize("algorithm", [ES256, EDDSA, RS256])
    @pytest.mark.parametrize("is_synced", [True, False])
    def test_the_common_algorithms_work(
        self, factor: PasswordlessFactor[Any], origin: str, algorithm: Any, is_synced: bool
    ) -> None:
        device = SoftwareAuthenticator(origin, algorithm=algorithm, is_synced=is_synced)
        _, enrolled = _register(factor, device, USER)
        for _ in range(2):
            ceremony = _begun(factor)
            assert factor.verify(enrolled, ceremony, device.get(_options(ceremony))) is not None

    def test_no_forged_login_proves_anything(self, factor: PasswordlessFactor[Any], origin: str) -> None:
        accepted = []
        for name, forge in forged_logins().items():
            scene, ceremony = _Scene(factor, origin), _begun(factor)
            answer = forge(scene.forger(_options(ceremony)))
            if _proof(factor, scene.enrolled, ceremony, answer) is not None:
                accepted.append(name)
        assert accepted == []

    def test_no_forged_second_factor_proves_anything(
        self, factor: PasswordlessFactor[Any], origin: str
    ) -> None:
        accepted = []
        for name, forge in forged_logins().items():
            scene = _Scene(factor, origin)
            ceremony = factor.begin_challenge(scene.enrolled[:1])
            answer = forge(scene.forger(_options(ceremony)))
            if _proof(factor, scene.enrolled[:1], ceremony, answer) is not None:
                accepted.append(name)
        assert sorted(accepted) == sorted(_NO_HANDLE)

    def test_no_forged_registration_enrols_anything(
        self, factor: PasswordlessFactor[Any], origin: str
    ) -> None:
        enrolled = []
        for name, forge in forged_registrations().items():
            scene, ceremony = _Scene(factor, origin), factor.begin_enrolment(USER, ())
            answer = forge(scene.forger(_options(ceremony), SoftwareAuthenticator(origin)))
            try:
                factor.enrol(ceremony, answer)
            except FactorRejected:
                continue
            enrolled.append(name)
        assert enrolled == []


class _Scene:
    """A victim and a forger who have enrolled a passkey each."""

    def __init__(self, factor: PasswordlessFactor[Any], origin: str) -> None:
        self._device = SoftwareAuthenticator(origin, is_synced=False)
        self._other = SoftwareAuthenticator(origin)
        self._created, victim = _register(factor, self._device, USER)
        handle = encode(hashlib.sha512(b"other").digest())
        _, other = _register(factor, self._other, FactorUser("2", "bob@example.com", "Bob", handle))
        self.enrolled = [*victim, *(EnrolledFactor("other", each.data) for each in other)]
        ceremony = _begun(factor)
        self._used = self._device.get(_options(ceremony))
        proof = factor.verify(self.enrolled, ceremony, self._used)
        assert proof is not None
        self.enrolled[0] = EnrolledFactor(self.enrolled[0].id, proof.data)

    def forger(self, options: Mapping[str, Any], other: SoftwareAuthenticator | None = None) -> Forger:
        return Forger(self._device, other or self._other, options, self._used, self._created)


def _proof(
    factor: PasswordlessFactor[Any],
    enrolled: Sequence[EnrolledFactor],
    ceremony: Ceremony,
    answer: Any,
) -> FactorProof | None:
    try:
        return factor.verify(enrolled, ceremony, answer)
    except FactorAlarm:
        return None


def _register(
    factor: PasswordlessFactor[Any], device: SoftwareAuthenticator, user: FactorUser
) -> tuple[Json, list[EnrolledFactor]]:
    ceremony = factor.begin_enrolment(user, ())
    created: Json = device.create(_options(ceremony))
    return created, [EnrolledFactor("enrolment", factor.enrol(ceremony, created).data)]


def _begun(factor: PasswordlessFactor[Any]) -> Ceremony:
    ceremony = factor.begin_login()
    assert ceremony is not None
    return ceremony


def _options(ceremony: Ceremony) -> Mapping[str, Any]:
    options: Mapping[str, Any] = ceremony.shown["publicKey"]
    return options
