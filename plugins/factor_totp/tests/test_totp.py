"""Codes of authenticator apps: the contract of second factors, RFC 6238, and the clock."""

import shutil
import subprocess
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest

from strongroom.plugin_api.factors import Ceremony, EnrolledFactor, FactorProof, FactorUser
from strongroom.testing.factors import Device, SecondFactorContract
from strongroom_factor_totp.plugin import Totp, TotpOptions

# Codes of two steps of a random secret may be equal.
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"  # "12345678901234567890", as in RFC 6238, appendix B
STEP = 30


class Time:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class App(Device):
    """An authenticator app, whose owner waits for the next code before each answer."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._secret = ""

    def enrol(self, shown: dict[str, Any]) -> str:
        self._secret = pyotp.parse_uri(shown["uri"]).secret
        return self._code()

    def answer(self, shown: dict[str, Any], enrolled: dict[str, Any]) -> str:
        self._time.now += STEP
        return self._code()

    def _code(self) -> str:
        return pyotp.TOTP(self._secret).at(int(self._time.now))


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def factor(time: Time) -> Totp:
    return Totp(TotpOptions(), time)


class TestTotp(SecondFactorContract):
    @pytest.fixture
    def factor(self, time: Time) -> Totp:
        return Totp(TotpOptions(), time)

    @pytest.fixture
    def device(self, time: Time) -> App:
        return App(time)


def enrolled(secret: str = SECRET, step: int = 0) -> Sequence[EnrolledFactor]:
    return [EnrolledFactor("phone", {"secret": secret, "step": step})]


def verify(factor: Totp, code: object, step: int = 0, secret: str = SECRET) -> FactorProof | None:
    return factor.verify(enrolled(secret, step), Ceremony(), code)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_the_codes_are_those_of_rfc_6238(factor: Totp, time: Time, seconds: int, code: str) -> None:
    time.now = seconds
    # The vectors have eight digits; apps show the last six.
    assert verify(factor, code[-6:], secret=RFC_SECRET) is not None


@pytest.mark.parametrize(
    ("steps", "is_right"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_the_clock_of_a_phone_may_be_one_step_off(
    factor: Totp, time: Time, steps: int, is_right: bool
) -> None:
    code = pyotp.TOTP(SECRET).at(int(time.now), counter_offset=steps)
    assert (verify(factor, code) is not None) is is_right


def test_only_steps_after_the_last_one_count(factor: Totp, time: Time) -> None:
    now = int(time.now) // STEP
    totp = pyotp.TOTP(SECRET)
    proof = verify(factor, totp.generate_otp(now), step=now - 1)
    assert proof is not None
    assert proof.data["step"] == now
    for step in (now - 1, now):
        assert verify(factor, totp.generate_otp(step), step=now) is None
    assert verify(factor, totp.generate_otp(now + 1), step=now) is not None


def test_a_code_may_be_typed_with_a_space(factor: Totp, time: Time) -> None:
    code = pyotp.TOTP(SECRET).at(int(time.now))
    assert verify(factor, f"{code[:3]} {code[3:]}") is not None


def test_an_enrolment_shows_what_apps_scan(time: Time) -> None:
    user = FactorUser("1", "ann:lee@example.com")
    shown = Totp(TotpOptions(issuer="Acme & Co"), time).begin_enrolment(user, ()).shown
    read = pyotp.parse_uri(shown["uri"])
    assert (read.secret, read.issuer, read.digits) == (shown["secret"], "Acme & Co", 6)
    stated = parse_qs(urlsplit(shown["uri"]).query)
    assert {name: stated[name] for name in ("algorithm", "digits", "period")} == {
        "algorithm": ["SHA1"],
        "digits": ["6"],
        "period": ["30"],
    }
    assert len(shown["secret"]) == 32
    assert shown["qr"].startswith("<svg")
    assert "script" not in shown["qr"]


def test_another_implementation_makes_the_same_codes(factor: Totp, time: Time) -> None:
    oathtool = shutil.which("oathtool")
    if oathtool is None:
        pytest.skip("needs oathtool")
    command = [oathtool, "--totp", "--base32", f"--now=@{int(time.now)}", SECRET]
    code = subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
    assert verify(factor, code) is not None
