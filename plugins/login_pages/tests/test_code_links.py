"""The pages of links in e-mails pass their contracts on a live server."""

from collections.abc import Iterator

import pytest

from strongroom.testing.browser import Browser
from strongroom.testing.pages import Begin, CodePagesContract, InvitationPagesContract
from strongroom.testing.server import LiveServer, live_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    config = {
        "login": {"methods": ["password", "email_code"]},
        "captcha": {"provider": "fixed", "answer": "42"},
        # The tests of this module share one browser's address.
        "limits": {"code_per_address": ["1000/minute"]},
    }
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=["login_email", "login_pages"], config=config) as server:
        yield server


class TestCodePage(CodePagesContract):
    @pytest.fixture
    def path(self) -> str:
        return "/account/l/"

    @pytest.fixture
    def begin(self) -> Begin:
        def begin(browser: Browser, address: str) -> None:
            browser.open("/account/login")
            browser.submit("/account/login", username=address, way="code")
            browser.submit("/account/login/code", captchaAnswer="42")

        return begin


class TestInvitationPage(InvitationPagesContract):
    @pytest.fixture
    def path(self) -> str:
        return "/account/invitations/"
