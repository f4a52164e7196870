"""Login by mobile number and code."""

from dataclasses import replace

import pytest

from strongroom.plugin_api.login import Credential, LoginAttempt, LoginRejected, Proofs, VerificationCode
from strongroom.testing.login import CLIENT, FakeProofs, LoginMethodContract, MakeMethod
from strongroom_login_sms.method import SmsLogin
from strongroom_login_sms.options import SmsLoginOptions

NUMBER = "+8613812345678"


def sms_login(proofs: Proofs) -> SmsLogin:
    return SmsLogin(SmsLoginOptions(), proofs)


class TestSmsLogin(LoginMethodContract):
    @pytest.fixture
    def make_method(self) -> MakeMethod:
        return sms_login

    @pytest.fixture
    def credential(self) -> Credential:
        return Credential("mobile", NUMBER)

    @pytest.fixture
    def good_attempt(self, proofs: FakeProofs) -> LoginAttempt:
        return attempt_with(proofs.issue_code(NUMBER, "login"))

    @pytest.fixture
    def bad_attempt(self, proofs: FakeProofs) -> LoginAttempt:
        sent = proofs.issue_code(NUMBER, "login")
        return attempt_with(VerificationCode(sent.id, f"{(int(sent.code) + 1) % 10**6:06}"))

    @pytest.fixture
    def foreign_attempts(self, proofs: FakeProofs) -> list[LoginAttempt]:
        mailed = proofs.issue_code("ann@example.org", "login")
        sent = proofs.issue_code(NUMBER, "login")
        return [
            LoginAttempt(CLIENT),
            LoginAttempt(CLIENT, verification_code=sent),
            LoginAttempt(CLIENT, username=NUMBER, password="Correct-Horse-1"),
            LoginAttempt(CLIENT, username=NUMBER, password="Correct-Horse-1", verification_code=sent),
            LoginAttempt(CLIENT, username="ann@example.org", verification_code=mailed),
            LoginAttempt(CLIENT, username="ann", verification_code=sent),
            LoginAttempt(CLIENT, username="not a name at all", verification_code=sent),
        ]


def attempt_with(
    code: VerificationCode, *, username: str = NUMBER, password: str | None = None
) -> LoginAttempt:
    return LoginAttempt(CLIENT, username=username, password=password, verification_code=code)


@pytest.fixture
def proofs() -> FakeProofs:
    return FakeProofs()


FULL_WIDTH = NUMBER.translate({ord(sign): ord(sign) + 0xFEE0 for sign in NUMBER})


@pytest.mark.parametrize(
    "spelling", ["13812345678", "+86 138 1234 5678", "0086-138-1234-5678", FULL_WIDTH]
)
def test_however_the_number_is_spelt_the_credential_is_one(proofs: FakeProofs, spelling: str) -> None:
    code = proofs.issue_code(NUMBER, "login")
    verified = sms_login(proofs).authenticate(attempt_with(code, username=spelling))
    assert verified
    assert verified.credential == Credential("mobile", NUMBER)


def test_an_empty_password_counts_as_none(proofs: FakeProofs) -> None:
    code = proofs.issue_code(NUMBER, "login")
    assert sms_login(proofs).authenticate(attempt_with(code, password=""))


def test_a_code_sent_for_another_purpose_is_rejected(proofs: FakeProofs) -> None:
    code = proofs.issue_code(NUMBER, "reset-password")
    with pytest.raises(LoginRejected):
        sms_login(proofs).authenticate(attempt_with(code))


def test_a_code_sent_to_another_number_is_rejected(proofs: FakeProofs) -> None:
    code = proofs.issue_code("+8613912345678", "login")
    with pytest.raises(LoginRejected):
        sms_login(proofs).authenticate(attempt_with(code))


@pytest.mark.parametrize("code", [VerificationCode("", ""), VerificationCode("unknown", "000000")])
def test_a_code_never_sent_is_rejected(proofs: FakeProofs, code: VerificationCode) -> None:
    with pytest.raises(LoginRejected):
        sms_login(proofs).authenticate(attempt_with(code))


def test_an_attempt_with_a_password_leaves_the_code_unspent(proofs: FakeProofs) -> None:
    attempt = attempt_with(proofs.issue_code(NUMBER, "login"))
    method = sms_login(proofs)
    assert method.authenticate(replace(attempt, password="Wrong-Horse-1")) is None
    assert method.authenticate(attempt)


@pytest.mark.parametrize("register", [True, False])
def test_the_options_say_whether_a_new_number_may_register(proofs: FakeProofs, register: bool) -> None:
    method = SmsLogin(SmsLoginOptions(register=register), proofs)
    verified = method.authenticate(attempt_with(proofs.issue_code(NUMBER, "login")))
    assert verified
    assert verified.may_register is register
