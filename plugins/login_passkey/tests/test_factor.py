"""The factor: its stored data, its summary, its proofs, and the users that it accepts."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from strongroom.plugin_api.factors import Ceremony, EnrolledFactor, FactorAlarm, FactorRejected, Site
from strongroom.testing.factors import USER
from strongroom_login_passkey.factor import PasskeyFactor
from strongroom_login_passkey.options import PasskeyOptions
from strongroom_simulators.passkeys.authenticator import (
    AttestationAuthority,
    Faults,
    SoftwareAuthenticator,
)

ORIGIN = "https://files.example.com"


@pytest.fixture
def factor() -> PasskeyFactor:
    return PasskeyFactor(PasskeyOptions(), Site(ORIGIN))


def enrol(factor: PasskeyFactor, device: SoftwareAuthenticator, name: str = "phone") -> EnrolledFactor:
    ceremony = factor.begin_enrolment(USER, ())
    enrolment = factor.enrol(ceremony, device.create(ceremony.shown["publicKey"]))
    return EnrolledFactor(name, enrolment.data)


def begun(factor: PasskeyFactor) -> Ceremony:
    ceremony = factor.begin_login()
    assert ceremony is not None
    return ceremony


def test_an_enrolment_is_found_by_its_credential_id(factor: PasskeyFactor) -> None:
    device = SoftwareAuthenticator(ORIGIN)
    ceremony = factor.begin_enrolment(USER, ())
    created = device.create(ceremony.shown["publicKey"])
    assert factor.enrol(ceremony, created).handle == created["id"] == factor.get_handle(created)
    assert factor.get_handle({"id": 7}) is None
    assert factor.get_handle([created]) is None


def test_each_ceremony_has_a_challenge_of_its_own(factor: PasskeyFactor) -> None:
    enrolled = enrol(factor, SoftwareAuthenticator(ORIGIN))
    ceremonies = [
        begun(factor),
        begun(factor),
        factor.begin_challenge([enrolled]),
        factor.begin_enrolment(USER, ()),
        factor.begin_enrolment(USER, ()),
    ]
    challenges = [ceremony.shown["publicKey"]["challenge"] for ceremony in ceremonies]
    assert len(set(challenges)) == 5
    assert {len(challenge) for challenge in challenges} == {43}


def test_the_enrolment_is_for_its_user_and_excludes_what_is_enrolled(factor: PasskeyFactor) -> None:
    device = SoftwareAuthenticator(ORIGIN)
    enrolled = enrol(factor, device)
    options = factor.begin_enrolment(USER, [enrolled]).shown["publicKey"]
    assert options["user"]["id"] == USER.handle
    assert [each["id"] for each in options["excludeCredentials"]] == [enrolled.data["id"]]
    assert enrolled.data["user"] == USER.handle


def test_an_answer_of_another_ceremony_enrols_nothing(factor: PasskeyFactor) -> None:
    created = SoftwareAuthenticator(ORIGIN).create(factor.begin_enrolment(USER, ()).shown["publicKey"])
    with pytest.raises(FactorRejected):
        factor.enrol(factor.begin_enrolment(USER, ()), created)


def test_only_passkeys_that_the_challenge_names_answer_it(factor: PasskeyFactor) -> None:
    phone, laptop = SoftwareAuthenticator(ORIGIN), SoftwareAuthenticator(ORIGIN)
    first, second = enrol(factor, phone, "phone"), enrol(factor, laptop, "laptop")
    ceremony = factor.begin_challenge([first])
    options = {**ceremony.shown["publicKey"], "allowCredentials": []}
    # Enrolled after the challenge was issued.
    assert factor.verify([first, second], ceremony, laptop.get(options)) is None
    proof = factor.verify([first, second], ceremony, phone.get(options))
    assert proof is not None
    assert proof.enrolment_id == "phone"


def test_a_login_alone_states_the_user_and_a_second_factor_need_not(factor: PasskeyFactor) -> None:
    device = SoftwareAuthenticator(ORIGIN)
    enrolled = [enrol(factor, device)]
    silent = Faults(user_handle="")
    login, second = begun(factor), factor.begin_challenge(enrolled)
    assert factor.verify(enrolled, login, device.get(login.shown["publicKey"], silent)) is None
    assert factor.verify(enrolled, second, device.get(second.shown["publicKey"], silent)) is not None


def test_a_passkey_of_nobody_proves_nothing(factor: PasskeyFactor) -> None:
    device = SoftwareAuthenticator(ORIGIN)
    enrol(factor, device)
    ceremony = begun(factor)
    assert factor.verify([], ceremony, device.get(ceremony.shown["publicKey"])) is None


def test_a_copied_key_raises_an_alarm(factor: PasskeyFactor) -> None:
    device = SoftwareAuthenticator(ORIGIN, is_synced=False)
    enrolled = enrol(factor, device)
    copy, ceremony = device.clone(), begun(factor)
    proof = factor.verify([enrolled], ceremony, device.get(ceremony.shown["publicKey"]))
    assert proof is not None
    ceremony = begun(factor)
    after = [replace(enrolled, data=proof.data)]
    with pytest.raises(FactorAlarm, match="counter-regressed"):
        factor.verify(after, ceremony, copy.get(ceremony.shown["publicKey"]))


def assurance(factor: PasskeyFactor, device: SoftwareAuthenticator) -> tuple[Any, str]:
    enrolled, ceremony = [enrol(factor, device)], begun(factor)
    proof = factor.verify(enrolled, ceremony, device.get(ceremony.shown["publicKey"]))
    assert proof is not None
    return proof.assurance.amr, proof.assurance.acr


def test_the_assurance_states_the_kind_of_key(factor: PasskeyFactor, tmp_path: Path) -> None:
    assert assurance(factor, SoftwareAuthenticator(ORIGIN)) == (("swk", "user"), "phr")
    bound = SoftwareAuthenticator(ORIGIN, is_synced=False)
    assert assurance(factor, bound) == (("hwk", "user"), "phr")
    vendor, roots = AttestationAuthority(), tmp_path / "roots.pem"
    roots.write_bytes(vendor.root)
    attesting = PasskeyFactor(PasskeyOptions(attestation_roots=roots), Site(ORIGIN))
    attested = SoftwareAuthenticator(ORIGIN, is_synced=False, attestation=vendor)
    assert assurance(attesting, attested) == (("hwk", "user"), "phrh")
    # No hardware protects a key that can be copied, so its attestation proves nothing.
    synced = SoftwareAuthenticator(ORIGIN, attestation=vendor)
    assert assurance(attesting, synced) == (("swk", "user"), "phr")
    assert assurance(attesting, bound.clone()) == (("hwk", "user"), "phr")


def test_a_passkey_logs_in_alone_only_if_that_is_configured() -> None:
    factor = PasskeyFactor(PasskeyOptions(passwordless=False), Site(ORIGIN))
    assert factor.begin_login() is None
    device = SoftwareAuthenticator(ORIGIN)
    enrolled = [enrol(factor, device)]
    ceremony = factor.begin_challenge(enrolled)
    assert factor.verify(enrolled, ceremony, device.get(ceremony.shown["publicKey"])) is not None


def test_the_summary_is_what_browsers_signal_to_providers(factor: PasskeyFactor) -> None:
    enrolled = enrol(factor, SoftwareAuthenticator(ORIGIN))
    assert factor.summary(USER, [enrolled]) == {
        "rpId": "files.example.com",
        "userId": USER.handle,
        "name": "alice@example.com",
        "displayName": "Alice",
        "allAcceptedCredentialIds": [enrolled.data["id"]],
        "credentialIds": {"phone": enrolled.data["id"]},
    }
    assert factor.summary(USER, [])["allAcceptedCredentialIds"] == []


def test_the_library_is_loaded_by_the_first_ceremony_only() -> None:
    begin = (
        "import sys; from strongroom.plugin_api.factors import Site; "
        "from strongroom_login_passkey.plugin import PasskeyFactor; "
        "from strongroom_login_passkey.options import PasskeyOptions; "
        f"factor = PasskeyFactor(PasskeyOptions(), Site({ORIGIN!r})); "
        "before = 'webauthn' in sys.modules; "
        "factor.begin_login(); print(before, 'webauthn' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", begin], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]
