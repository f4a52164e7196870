"""Contract tests for login methods, and an in-memory replacement for the core's proofs."""

import hmac
import secrets
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import phonenumbers
import pytest

from strongroom.plugin_api.login import (
    Client,
    Credential,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    Proofs,
    VerificationCode,
    VerifiedCredential,
)

CLIENT = Client(address="192.0.2.7", user_agent="contract/1.0", device_id="device-1")
"""The client of all attempts in these tests."""

MakeMethod = Callable[[Proofs], LoginMethod[Any]]


class FakeProofs:
    """Credentials, passwords and single-use codes in memory. Implements :class:`Proofs`.

    Args:
        region: ISO 3166 code of the country whose mobile numbers may be written without ``+``.
    """

    def __init__(self, *, region: str = "CN") -> None:
        self._region = region
        self._passwords: dict[Credential, str] = {}
        self._codes: dict[str, tuple[str, Credential, str]] = {}
        self._lock = threading.Lock()

    def set_password(self, username: str, password: str) -> Credential:
        """Set the password of a credential, and return the credential."""
        credential = self._required(username)
        self._passwords[credential] = password
        return credential

    def issue_code(self, recipient: str, purpose: str) -> VerificationCode:
        """Return a new code, as if it had been sent to the recipient."""
        code = VerificationCode(secrets.token_hex(8), f"{secrets.randbelow(10**6):06}")
        self._codes[code.id] = (code.code, self._required(recipient), purpose)
        return code

    def identify(self, text: str) -> Credential | None:
        text = text.strip()
        if "@" in text:
            return Credential("email", text.lower())
        if mobile := self._mobile(text):
            return Credential("mobile", mobile)
        return Credential("username", text) if text.isidentifier() else None

    def check_password(self, username: str, password: str) -> Credential | None:
        credential = self.identify(username)
        known = self._passwords.get(credential) if credential else None
        return credential if known and hmac.compare_digest(known.encode(), password.encode()) else None

    def consume_code(
        self,
        code: VerificationCode,
        recipient: str,
        purpose: str,
        *,
        client: Client | None = None,  # noqa: ARG002  these codes have no links
    ) -> Credential | None:
        credential = self.identify(recipient)
        # Atomic, like the core's check: of several threads, one gets the credential.
        with self._lock:
            if credential is None or self._codes.get(code.id) != (code.code, credential, purpose):
                return None
            del self._codes[code.id]
        return credential

    def _required(self, text: str) -> Credential:
        credential = self.identify(text)
        if credential is None:
            raise ValueError(f"{text!r} is not a credential")
        return credential

    def _mobile(self, text: str) -> str | None:
        try:
            number = phonenumbers.parse(text, self._region)
        except phonenumbers.NumberParseException:
            return None
        if not phonenumbers.is_valid_number(number):
            return None
        return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def get_secrets(attempt: LoginAttempt) -> set[str]:
    """Return the secrets of an attempt, which no log, error or ``repr`` may contain."""
    code = attempt.verification_code.code if attempt.verification_code else None
    return {text for text in (attempt.password, code, *attempt.proof.values()) if text}


class LoginMethodContract:
    """The contract of login methods.

    Provide the fixtures ``make_method``, ``good_attempt``, ``bad_attempt`` and ``credential``. Prepare
    the fixture ``proofs`` if the method uses it. Override ``foreign_attempts`` with other attempts that
    the method must ignore.
    """

    single_use = True
    """Whether a proof can be used only once. A password, for example, can be reused."""

    @pytest.fixture
    def proofs(self) -> FakeProofs:
        return FakeProofs()

    @pytest.fixture
    def make_method(self) -> MakeMethod:
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def good_attempt(self, proofs: FakeProofs) -> LoginAttempt:
        """An attempt that proves :meth:`credential`."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def bad_attempt(self, proofs: FakeProofs) -> LoginAttempt:
        """An attempt of the method's kind with a wrong proof."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def credential(self) -> Credential:
        """The credential that :meth:`good_attempt` proves."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def foreign_attempts(self) -> Sequence[LoginAttempt]:
        """Attempts that are not of the method's kind."""
        return [
            LoginAttempt(CLIENT),
            LoginAttempt(CLIENT, method="another_method", proof={"token": "t"}),
        ]

    @pytest.fixture
    def method(self, make_method: MakeMethod, proofs: FakeProofs) -> LoginMethod[Any]:
        return make_method(proofs)

    def test_the_right_proof_proves_its_credential(
        self, method: LoginMethod[Any], good_attempt: LoginAttempt, credential: Credential
    ) -> None:
        verified = method.authenticate(good_attempt)
        assert isinstance(verified, VerifiedCredential)
        assert verified.credential == credential

    def test_the_wrong_proof_is_rejected(
        self, method: LoginMethod[Any], bad_attempt: LoginAttempt
    ) -> None:
        with pytest.raises(LoginRejected) as rejected:
            method.authenticate(bad_attempt)
        assert rejected.value.code.startswith("error.")

    def test_the_wrong_proof_spoils_nothing(
        self, method: LoginMethod[Any], bad_attempt: LoginAttempt, good_attempt: LoginAttempt
    ) -> None:
        with pytest.raises(LoginRejected):
            method.authenticate(bad_attempt)
        assert method.authenticate(good_attempt)

    @pytest.mark.parametrize("password", [None, ""])
    def test_a_bare_username_proves_nothing(
        self, method: LoginMethod[Any], credential: Credential, password: str | None
    ) -> None:
        attempt = LoginAttempt(CLIENT, username=credential.value, password=password)
        assert _outcome(method, attempt) is None

    def test_an_attempt_of_another_kind_is_left_to_others(
        self, method: LoginMethod[Any], foreign_attempts: Sequence[LoginAttempt]
    ) -> None:
        assert [method.authenticate(attempt) for attempt in foreign_attempts] == [None] * len(
            foreign_attempts
        )

    def test_a_named_method_is_used(self, method: LoginMethod[Any], good_attempt: LoginAttempt) -> None:
        assert method.authenticate(replace(good_attempt, method=method.name))

    def test_a_consumed_proof_does_not_work_twice(
        self, method: LoginMethod[Any], good_attempt: LoginAttempt
    ) -> None:
        if not self.single_use:
            pytest.skip("its proof can be reused")
        assert method.authenticate(good_attempt)
        with pytest.raises(LoginRejected):
            method.authenticate(good_attempt)

    def test_one_of_several_concurrent_attempts_consumes_the_proof(
        self, method: LoginMethod[Any], good_attempt: LoginAttempt
    ) -> None:
        if not self.single_use:
            pytest.skip("its proof can be reused")
        # All threads start at the same time, so that a missing lock shows.
        barrier = threading.Barrier(8)

        def race(_: int) -> VerifiedCredential | None:
            barrier.wait(timeout=30)
            return _outcome(method, good_attempt)

        with ThreadPoolExecutor(8) as pool:
            assert sum(outcome is not None for outcome in pool.map(race, range(8))) == 1

    def test_nothing_shows_the_secrets_of_an_attempt(
        self, method: LoginMethod[Any], bad_attempt: LoginAttempt, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("DEBUG")
        with pytest.raises(LoginRejected) as rejected:
            method.authenticate(bad_attempt)
        logged = [record.exc_info[1] for record in caplog.records if record.exc_info]
        texts = [_get_text(error) for error in (rejected.value, *logged) if error]
        shown = "\n".join([repr(bad_attempt), *caplog.messages, *texts])
        assert not [secret for secret in get_secrets(bad_attempt) if secret in shown]


def _outcome(method: LoginMethod[Any], attempt: LoginAttempt) -> VerifiedCredential | None:
    try:
        return method.authenticate(attempt)
    except LoginRejected:
        return None


def _get_text(error: BaseException) -> str:
    """Return the messages of an error and of its causes.

    The frames are left out: a folder or a line of code can contain the same word as an attempt.
    """
    return "".join(traceback.format_exception(error, limit=0))
