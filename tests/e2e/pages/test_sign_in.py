"""The pages before and during a login, and those of visitors."""

from tests.e2e.pages.walks import PageWalks


class TestSignIn(PageWalks):
    areas = (
        "core",
        "sign-in",
        "registration",
        "captchas",
        "shares",
        "wechat",
        "providers",
        "single-sign-on",
        "brand",
        "set-up",
    )
