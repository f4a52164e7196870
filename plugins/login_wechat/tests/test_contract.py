"""Both kinds of app hold to the one contract of login methods: with a redirect and without one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import Credential, LoginAttempt, Proofs
from strongroom.testing.login import CLIENT, LoginMethodContract, MakeMethod
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.options import WeChatOptions
from strongroom_simulators.wechat import Platform, PlatformApp

APP = "an-app-of-this-test"


class WeChatContract(LoginMethodContract):
    """Attempts that both contracts share."""

    app: str
    platform_app: str

    @pytest.fixture
    def known(self, request: pytest.FixtureRequest) -> PlatformApp:
        known: PlatformApp = request.getfixturevalue(self.platform_app)
        return known

    @pytest.fixture
    def make_method(self, options: WeChatOptions, host: HostAPI) -> Iterator[MakeMethod]:
        # A name that stands in no traceback by chance: the contract takes all of a proof for secret.
        renamed = replace(options, apps={APP: options.apps[self.app]})
        made: list[WeChatLogin] = []

        def make(proofs: Proofs) -> WeChatLogin:
            made.append(WeChatLogin(renamed, proofs))
            made[-1].attach(host)
            return made[-1]

        yield make
        for method in made:
            method.close()

    @pytest.fixture
    def code(self, vendor: Platform, known: PlatformApp) -> str:
        raise NotImplementedError

    @pytest.fixture
    def good_attempt(self, code: str) -> LoginAttempt:
        return LoginAttempt(CLIENT, method="wechat", proof={"app": APP, "code": code})

    @pytest.fixture
    def bad_attempt(self, good_attempt: LoginAttempt) -> LoginAttempt:
        return replace(good_attempt, proof={"app": APP, "code": "made-up-code"})

    @pytest.fixture
    def credential(self, vendor: Platform, known: PlatformApp) -> Credential:
        return Credential("wechat", f"{known.appid}:{known.openid(vendor.people['lin'])}")

    @pytest.fixture
    def foreign_attempts(self, good_attempt: LoginAttempt) -> Sequence[LoginAttempt]:
        return [LoginAttempt(CLIENT), replace(good_attempt, method=None)]


class TestWebsite(WeChatContract):
    app = "site"
    platform_app = "site_app"

    @pytest.fixture
    def code(self, vendor: Platform, known: PlatformApp) -> str:
        return vendor.scan(known.appid, "lin")


class TestMiniProgram(WeChatContract):
    app = "mini"
    platform_app = "mini_app"

    @pytest.fixture
    def code(self, vendor: Platform, known: PlatformApp) -> str:
        return vendor.log_in(known.appid, "lin")
