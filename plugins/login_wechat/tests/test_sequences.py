"""Any order of scans, logins, waiting and replays: one person, one identity, one use."""

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule

from strongroom_login_oauth.errors import ClientFault, CodeExpired, CodeInvalid, CodeUsed
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.options import WeChatApp, WeChatOptions
from strongroom_simulators.wechat import (
    AdjustableClock,
    Simulator,
    sample_mini_program,
    sample_platform,
    sample_website,
)

from .conftest import NoProofs
from .harness import identify

PEOPLE = st.sampled_from(["lin", "wei", "ada"])
LIFETIMES = {"site": 600, "mini": 300}


@dataclass
class IssuedCode:
    text: str
    app: str
    person: str
    expires_at: float
    used: bool = False


class Sequences(RuleBasedStateMachine):
    codes = Bundle("codes")

    def __init__(self) -> None:
        super().__init__()
        self.clock = AdjustableClock(lambda: 1_700_000_000.0)
        self.known = {"site": sample_website(), "mini": sample_mini_program()}
        self.platform = sample_platform(*self.known.values(), clock=self.clock)
        self.simulator = Simulator(self.platform).__enter__()
        options = WeChatOptions(
            apps={
                "site": WeChatApp(
                    "website", self.known["site"].appid, self.known["site"].secret, "http://127.0.0.1/"
                ),
                "mini": WeChatApp("mini_program", self.known["mini"].appid, self.known["mini"].secret),
            },
            api_url=self.simulator.url,
        )
        self.login = WeChatLogin(options, NoProofs())
        self.apps = self.login.providers
        self.openids: dict[tuple[str, str], str] = {}
        self.unionids: dict[str, str] = {}

    def teardown(self) -> None:
        self.login.close()
        self.simulator.__exit__(None, None, None)

    @rule(target=codes, person=PEOPLE)
    def scan(self, person: str) -> IssuedCode:
        code = self.platform.scan(self.known["site"].appid, person)
        return IssuedCode(code, "site", person, self.clock() + LIFETIMES["site"])

    @rule(target=codes, person=PEOPLE)
    def log_in(self, person: str) -> IssuedCode:
        code = self.platform.log_in(self.known["mini"].appid, person)
        return IssuedCode(code, "mini", person, self.clock() + LIFETIMES["mini"])

    @rule(seconds=st.sampled_from([1, 100, 299, 300]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(app=st.sampled_from(["site", "mini"]), joined=st.booleans())
    def join_or_leave_the_account(self, app: str, joined: bool) -> None:
        self.known[app].account = "sample-account" if joined else None

    @rule(code=codes)
    def present(self, code: IssuedCode) -> None:
        fault = self._expected_fault(code)
        if fault:
            with pytest.raises(fault):
                identify(self.apps[code.app], code.text)
            return
        identity = identify(self.apps[code.app], code.text)
        code.used = True
        assert self.openids.setdefault((code.app, code.person), identity.openid) == identity.openid
        assert len(set(self.openids.values())) == len(self.openids)
        assert (identity.unionid is not None) == (self.known[code.app].account is not None)
        if identity.unionid:
            assert self.unionids.setdefault(code.person, identity.unionid) == identity.unionid
            assert len(set(self.unionids.values())) == len(self.unionids)

    @rule(code=consumes(codes))
    def present_to_the_other_app(self, code: IssuedCode) -> None:
        other = {"site": "mini", "mini": "site"}[code.app]
        with pytest.raises(CodeInvalid):
            identify(self.apps[other], code.text)

    def _expected_fault(self, code: IssuedCode) -> type[ClientFault] | None:
        expired = self.clock() >= code.expires_at
        if code.app == "mini":
            return CodeInvalid if code.used or expired else None
        if code.used:
            return CodeUsed
        return CodeExpired if expired else None


Sequences.TestCase.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)
TestSequences = Sequences.TestCase
