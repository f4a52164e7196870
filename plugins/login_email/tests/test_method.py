"""Login by e-mail address and code."""

import pytest

from strongroom.plugin_api.login import Credential, LoginAttempt, Proofs, VerificationCode
from strongroom.testing.login import CLIENT, FakeProofs, LoginMethodContract, MakeMethod
from strongroom_login_email.method import EmailLogin
from strongroom_login_email.options import EmailLoginOptions

ADDRESS = "ann@example.org"
NUMBER = "+8613812345678"


def email_login(proofs: Proofs) -> EmailLogin:
    return EmailLogin(EmailLoginOptions(), proofs)


class TestEmailLogin(LoginMethodContract):
    @pytest.fixture
    def make_method(self) -> MakeMethod:
        return email_login

    @pytest.fixture
    def credential(self) -> Credential:
        return Credential("email", ADDRESS)

    @pytest.fixture
    def good_attempt(self, proofs: FakeProofs) -> LoginAttempt:
        code = proofs.issue_code(ADDRESS, "login")
        return LoginAttempt(CLIENT, username=ADDRESS, verification_code=code)

    @pytest.fixture
    def bad_attempt(self, proofs: FakeProofs) -> LoginAttempt:
        sent = proofs.issue_code(ADDRESS, "login")
        wrong = VerificationCode(sent.id, f"{(int(sent.code) + 1) % 10**6:06}")
        return LoginAttempt(CLIENT, username=ADDRESS, verification_code=wrong)

    @pytest.fixture
    def foreign_attempts(self, proofs: FakeProofs) -> list[LoginAttempt]:
        code = proofs.issue_code(ADDRESS, "login")
        texted = proofs.issue_code(NUMBER, "login")
        return [
            LoginAttempt(CLIENT),
            LoginAttempt(CLIENT, verification_code=code),
            LoginAttempt(CLIENT, username=ADDRESS, password="Correct-Horse-1", verification_code=code),
            LoginAttempt(CLIENT, username=NUMBER, verification_code=texted),
            LoginAttempt(CLIENT, username="ann", verification_code=code),
        ]


@pytest.mark.parametrize("register", [True, False])
def test_the_options_say_whether_a_new_address_may_register(register: bool) -> None:
    proofs, options = FakeProofs(), EmailLoginOptions(register=register)
    code = proofs.issue_code(ADDRESS, "login")
    attempt = LoginAttempt(CLIENT, username=ADDRESS, verification_code=code)
    verified = EmailLogin(options, proofs).authenticate(attempt)
    assert verified
    assert (verified.may_register, EmailLogin.registers(options)) == (register, register)
    assert verified.assurance.amr == ("email",)
