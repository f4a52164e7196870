"""The contract that every login method holds to, and what this one promises beyond it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from strongroom.plugin_api.login import Credential, LoginAttempt
from strongroom.testing.login import CLIENT, LoginMethodContract, MakeMethod

from strongroom_login_drawer.accounts import line
from strongroom_login_drawer.method import DrawerLogin
from strongroom_login_drawer.options import DrawerOptions

USERNAME, PASSWORD = "alice@corp.example", "Correct1Horse"


class TestDrawerLogin(LoginMethodContract):
    single_use = False  # a password is not spent by being used

    @pytest.fixture
    def options(self, tmp_path: Path) -> DrawerOptions:
        accounts = tmp_path / "accounts"
        accounts.write_text(line("alice", PASSWORD) + line("bob", "Other1Password"))
        return DrawerOptions(domain="corp.example", accounts=accounts)

    @pytest.fixture
    def make_method(self, options: DrawerOptions) -> MakeMethod:
        return lambda proofs: DrawerLogin(options, proofs)

    @pytest.fixture
    def credential(self) -> Credential:
        return Credential("drawer", USERNAME)

    @pytest.fixture
    def good_attempt(self) -> LoginAttempt:
        return LoginAttempt(CLIENT, username=USERNAME, password=PASSWORD)

    @pytest.fixture
    def bad_attempt(self) -> LoginAttempt:
        return LoginAttempt(CLIENT, username=USERNAME, password="Wrong1Password")

    @pytest.fixture
    def foreign_attempts(self) -> Sequence[LoginAttempt]:
        return [
            LoginAttempt(CLIENT),
            LoginAttempt(CLIENT, username="alice", password=PASSWORD),
            LoginAttempt(CLIENT, username="alice@example.com", password=PASSWORD),
            LoginAttempt(CLIENT, method="another_method", proof={"token": "t"}),
        ]


def test_a_file_that_is_missing_is_refused_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="accounts: there is no file"):
        DrawerOptions(domain="corp.example", accounts=tmp_path / "nowhere")
