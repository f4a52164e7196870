"""The checks of the ceremonies, one by one: a right answer passes, and one with a fault does not."""

from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from strongroom_login_passkey.ceremonies import (
    CounterRegressed,
    Passkey,
    Refused,
    authenticate,
    creation_options,
    register,
    request_options,
)
from strongroom_login_passkey.options import RelyingParty
from strongroom_simulators.passkeys.authenticator import (
    BACKED_UP,
    BACKUP_ELIGIBLE,
    EDDSA,
    ES256,
    NO_FAULTS,
    PRESENT,
    RS256,
    VERIFIED,
    AttestationAuthority,
    Faults,
    SoftwareAuthenticator,
    cose_key,
    decode,
    encode,
)

ORIGIN, RELATED = "https://files.example.com", "https://files.example.net"
PARTY = RelyingParty("files.example.com", "Strongroom", (ORIGIN, RELATED))
CHALLENGE = bytes(range(32))
USER = encode(bytes(range(64)))

CLIENT_FAULTS: dict[str, dict[str, Any]] = {
    "type": {"type": "payment.get"},
    "challenge": {"challenge": encode(bytes(32))},
    "padded challenge": {"challenge": f"{encode(CHALLENGE)}="},
    "origin": {"origin": "https://evil.example"},
    "frame": {"crossOrigin": True},
    "text as frame": {"crossOrigin": "false"},
    "origin on top": {"topOrigin": ORIGIN},
}


def created(
    device: SoftwareAuthenticator, faults: Faults = NO_FAULTS, party: RelyingParty = PARTY
) -> Any:
    options = creation_options(party, CHALLENGE, USER, "ann@example.com", "Ann", [])
    return device.create(options, faults)


def registered(
    device: SoftwareAuthenticator, faults: Faults = NO_FAULTS, party: RelyingParty = PARTY
) -> Passkey:
    return register(party, encode(CHALLENGE), USER, created(device, faults, party))


def log_in(
    device: SoftwareAuthenticator,
    passkey: Passkey,
    faults: Faults = NO_FAULTS,
    *,
    challenge: bytes = CHALLENGE,
    is_discovered: bool = True,
) -> Passkey:
    answer = device.get(request_options(PARTY, challenge, []), faults)
    return authenticate(PARTY, encode(challenge), passkey, answer, is_discovered=is_discovered)


@pytest.fixture
def device() -> SoftwareAuthenticator:
    return SoftwareAuthenticator(ORIGIN, is_synced=False)


@pytest.fixture
def passkey(device: SoftwareAuthenticator) -> Passkey:
    return registered(device)


def assert_not_registered(device: SoftwareAuthenticator, faults: Faults) -> None:
    with pytest.raises(Refused):
        registered(device, faults)


def test_a_right_registration_is_what_the_authenticator_has(device: SoftwareAuthenticator) -> None:
    passkey = registered(device)
    assert decode(passkey.id) == device.credentials[0].id
    assert passkey.user == USER
    assert (passkey.is_synced, passkey.is_backed_up, passkey.is_attested) == (False, False, False)
    synced = registered(SoftwareAuthenticator(ORIGIN))
    assert (synced.is_synced, synced.is_backed_up) == (True, True)
    assert registered(SoftwareAuthenticator(ORIGIN), Faults(count=7)).count == 7
    assert (passkey.transports, synced.transports) == (("usb",), ("hybrid", "internal"))


@pytest.mark.parametrize("name", CLIENT_FAULTS)
def test_a_registration_has_the_client_data_of_the_ceremony(
    device: SoftwareAuthenticator, name: str
) -> None:
    assert_not_registered(device, Faults(client_data=CLIENT_FAULTS[name]))


def test_a_page_of_a_related_origin_registers(device: SoftwareAuthenticator) -> None:
    registered(device, Faults(client_data={"origin": RELATED}))


def test_a_registration_is_for_the_domain(device: SoftwareAuthenticator) -> None:
    assert_not_registered(device, Faults(rp_id="evil.example"))


def test_a_registration_needs_a_verified_user(device: SoftwareAuthenticator) -> None:
    assert_not_registered(device, Faults(flags_off=VERIFIED))


def test_a_registration_needs_a_present_user(device: SoftwareAuthenticator) -> None:
    assert_not_registered(device, Faults(flags_off=PRESENT))


def test_what_cannot_be_copied_has_no_backup(device: SoftwareAuthenticator) -> None:
    assert_not_registered(device, Faults(flags_on=BACKED_UP))


def test_a_registration_states_its_own_id(device: SoftwareAuthenticator) -> None:
    other = encode(bytes(32))
    assert_not_registered(device, Faults(edit=lambda answer: {**answer, "id": other, "rawId": other}))


@pytest.mark.parametrize(("length", "is_right"), [(1023, True), (1024, False)])
def test_a_credential_id_has_a_limited_length(
    device: SoftwareAuthenticator, length: int, is_right: bool
) -> None:
    faults = Faults(credential_id=bytes(length))
    if is_right:
        assert len(decode(registered(device, faults).id)) == length
    else:
        assert_not_registered(device, faults)


def _point(curve: ec.EllipticCurve, size: int, **members: Any) -> bytes:
    numbers = ec.generate_private_key(curve).public_key().public_numbers()
    x, y = (value.to_bytes(size, "big") for value in (numbers.x, numbers.y))
    return cose_key({1: 2, 3: members.get("alg", ES256), -1: members.get("crv", 1), -2: x, -3: y})


def _rsa(bits: int, alg: int = RS256) -> bytes:
    numbers = (
        rsa.generate_private_key(public_exponent=65537, key_size=bits).public_key().public_numbers()
    )
    n, e = numbers.n.to_bytes(bits // 8, "big"), numbers.e.to_bytes(3, "big")
    return cose_key({1: 3, 3: alg, -1: n, -2: e})


@pytest.mark.parametrize(
    "make",
    [lambda: _point(ec.SECP384R1(), 48, crv=2, alg=-35), lambda: _rsa(2048, -258)],
    ids=["ES384", "RS384"],
)
def test_only_the_offered_algorithms_are_registered(
    device: SoftwareAuthenticator, make: Callable[[], bytes]
) -> None:
    assert_not_registered(device, Faults(key=make()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: _point(ec.SECP256R1(), 32, alg=EDDSA),
        lambda: _point(ec.SECP256R1(), 32, alg=RS256),
        lambda: _rsa(2048, ES256),
        lambda: _rsa(2048, EDDSA),
    ],
    ids=["point as Edwards point", "point as RSA", "RSA as point", "RSA as Edwards point"],
)
def test_a_key_is_of_its_algorithm(device: SoftwareAuthenticator, make: Callable[[], bytes]) -> None:
    assert_not_registered(device, Faults(key=make()))


def test_es256_is_on_its_curve_only(device: SoftwareAuthenticator) -> None:
    registered(device, Faults(key=_point(ec.SECP256R1(), 32)))
    assert_not_registered(device, Faults(key=_point(ec.SECP384R1(), 48, crv=2)))


def test_a_key_that_no_login_could_use_is_not_registered(device: SoftwareAuthenticator) -> None:
    assert_not_registered(device, Faults(key=cose_key({1: 2, 3: ES256, -1: 1, -2: b"1", -3: b"2"})))


def test_short_rsa_keys_are_not_registered(device: SoftwareAuthenticator) -> None:
    assert_not_registered(device, Faults(key=_rsa(1024)))


def test_long_rsa_keys_are_not_registered(device: SoftwareAuthenticator) -> None:
    modulus = b"\xff" * 1024
    assert_not_registered(device, Faults(key=cose_key({1: 3, 3: RS256, -1: modulus, -2: b"\1\0\1"})))


def test_an_attestation_that_was_not_asked_for_is_refused() -> None:
    device = SoftwareAuthenticator(ORIGIN, attestation=AttestationAuthority())
    options = creation_options(PARTY, CHALLENGE, USER, "ann@example.com", "Ann", [])
    assert options["attestation"] == "none"
    answer = device.create({**options, "attestation": "direct"})
    with pytest.raises(Refused):
        register(PARTY, encode(CHALLENGE), USER, answer)


def test_only_an_attestation_of_a_configured_vendor_counts() -> None:
    vendor = AttestationAuthority()
    party = RelyingParty(PARTY.id, PARTY.name, PARTY.origins, vendor.root)
    theirs = SoftwareAuthenticator(ORIGIN, is_synced=False, attestation=vendor)
    other = SoftwareAuthenticator(ORIGIN, is_synced=False, attestation=AttestationAuthority())
    none = SoftwareAuthenticator(ORIGIN, is_synced=False)
    assert [registered(each, party=party).is_attested for each in (theirs, other, none)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("transports", [None, "usb", [7, "unheard-of", None], {}])
def test_unknown_transports_are_left_out(device: SoftwareAuthenticator, transports: Any) -> None:
    def edit(answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "response": {**answer["response"], "transports": transports}}

    assert registered(device, Faults(edit=edit)).transports == ()


@pytest.mark.parametrize("member", ["clientDataJSON", "attestationObject"])
def test_a_registration_is_in_strict_base64url(device: SoftwareAuthenticator, member: str) -> None:
    assert_not_registered(device, Faults(edit=lambda answer: _spaced(answer, member)))


@pytest.mark.parametrize("member", ["clientDataJSON", "authenticatorData", "signature"])
def test_a_login_is_in_strict_base64url(
    device: SoftwareAuthenticator, passkey: Passkey, member: str
) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(edit=lambda answer: _spaced(answer, member)))


def _spaced(answer: dict[str, Any], member: str) -> dict[str, Any]:
    value = answer["response"][member]
    return {**answer, "response": {**answer["response"], member: f"{value[:8]} {value[8:]}"}}


@pytest.mark.parametrize("answer", [None, [], {}, {"id": "x"}, {"id": "x", "response": []}])
def test_what_is_no_credential_is_refused(passkey: Passkey, answer: Any) -> None:
    with pytest.raises(Refused):
        register(PARTY, encode(CHALLENGE), USER, answer)
    with pytest.raises(Refused):
        authenticate(PARTY, encode(CHALLENGE), passkey, answer, is_discovered=True)


@pytest.mark.parametrize("name", CLIENT_FAULTS)
def test_a_login_has_the_client_data_of_the_ceremony(
    device: SoftwareAuthenticator, passkey: Passkey, name: str
) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(client_data=CLIENT_FAULTS[name]))


def test_a_page_of_a_related_origin_logs_in(device: SoftwareAuthenticator, passkey: Passkey) -> None:
    log_in(device, passkey, Faults(client_data={"origin": RELATED}))


def test_a_login_is_for_the_domain(device: SoftwareAuthenticator, passkey: Passkey) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(rp_id="evil.example"))


def test_a_login_needs_a_verified_user(device: SoftwareAuthenticator, passkey: Passkey) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(flags_off=VERIFIED))


def test_a_login_needs_a_present_user(device: SoftwareAuthenticator, passkey: Passkey) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(flags_off=PRESENT))


def test_a_login_needs_the_key(device: SoftwareAuthenticator, passkey: Passkey) -> None:
    other = SoftwareAuthenticator(ORIGIN)
    registered(other)
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(signed_by=other))


def test_a_login_names_the_passkey_that_signs(device: SoftwareAuthenticator, passkey: Passkey) -> None:
    other = registered(SoftwareAuthenticator(ORIGIN))
    named = Faults(edit=lambda answer: {**answer, "id": other.id, "rawId": other.id})
    with pytest.raises(Refused):
        log_in(device, passkey, named)


def test_an_answer_counts_once() -> None:
    device = SoftwareAuthenticator(ORIGIN)
    passkey = registered(device)
    answer = device.get(request_options(PARTY, CHALLENGE, []))
    after = authenticate(PARTY, encode(CHALLENGE), passkey, answer, is_discovered=True)
    with pytest.raises(Refused):
        authenticate(PARTY, encode(CHALLENGE), after, answer, is_discovered=True)


def test_a_discovered_passkey_states_its_user(device: SoftwareAuthenticator, passkey: Passkey) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(user_handle=""))
    log_in(device, passkey, Faults(user_handle=""), is_discovered=False)


@pytest.mark.parametrize("is_discovered", [True, False])
def test_a_passkey_states_no_other_user(
    device: SoftwareAuthenticator, passkey: Passkey, is_discovered: bool
) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(user_handle=encode(bytes(64))), is_discovered=is_discovered)


def test_a_passkey_does_not_become_one_that_can_be_copied(
    device: SoftwareAuthenticator, passkey: Passkey
) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(flags_on=BACKUP_ELIGIBLE))
    synced = SoftwareAuthenticator(ORIGIN)
    of_synced = registered(synced)
    with pytest.raises(Refused):
        log_in(synced, of_synced, Faults(flags_off=BACKUP_ELIGIBLE | BACKED_UP))
    assert log_in(synced, of_synced, Faults(flags_off=BACKED_UP)).is_backed_up is False


def test_a_login_of_what_cannot_be_copied_has_no_backup(
    device: SoftwareAuthenticator, passkey: Passkey
) -> None:
    with pytest.raises(Refused):
        log_in(device, passkey, Faults(flags_on=BACKED_UP))


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_counter_that_does_not_grow_is_reported(
    device: SoftwareAuthenticator, passkey: Passkey, count: int
) -> None:
    after = log_in(device, passkey, Faults(count=5))
    assert after.count == 5
    with pytest.raises(CounterRegressed):
        log_in(device, after, Faults(count=count), challenge=bytes(32))
    assert log_in(device, after, Faults(count=6), challenge=bytes(32)).count == 6


def test_passkeys_without_a_counter_log_in_again_and_again() -> None:
    device = SoftwareAuthenticator(ORIGIN)
    passkey = registered(device)
    for number in range(3):
        passkey = log_in(device, passkey, challenge=bytes([number]) * 32)
        assert passkey.count == 0


def test_without_the_key_nobody_raises_an_alarm(device: SoftwareAuthenticator, passkey: Passkey) -> None:
    after = log_in(device, passkey, Faults(count=5))
    other = SoftwareAuthenticator(ORIGIN)
    registered(other)
    with pytest.raises(Refused):
        log_in(device, after, Faults(count=1, signed_by=other), challenge=bytes(32))


def test_the_options_name_the_passkeys_that_may_answer(passkey: Passkey) -> None:
    named = [{"id": passkey.id, "type": "public-key", "transports": ["usb"]}]
    request = request_options(PARTY, CHALLENGE, [passkey])
    assert (request["allowCredentials"], request["userVerification"]) == (named, "required")
    creation = creation_options(PARTY, CHALLENGE, USER, "ann@example.com", "", [passkey])
    assert creation["excludeCredentials"] == named
    assert creation["user"] == {"id": USER, "name": "ann@example.com", "displayName": "ann@example.com"}
    assert creation["authenticatorSelection"]["residentKey"] == "required"
    assert creation["authenticatorSelection"]["userVerification"] == "required"
