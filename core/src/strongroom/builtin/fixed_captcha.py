"""A captcha for tests, with a fixed answer from the configuration. Production mode refuses it."""

import hmac
from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider

API_VERSION = "2.0"


@dataclass(frozen=True, slots=True)
class FixedCaptchaOptions:
    """The keys of ``[captcha]`` with ``provider = "fixed"``."""

    answer: str = option(help="The answer to every puzzle.", advanced=True)


class FixedCaptcha(CaptchaProvider[FixedCaptchaOptions]):
    """Accepts the configured answer."""

    name = "fixed"
    kind = "fixed"
    options_type = FixedCaptchaOptions
    development_only = True

    def issue(self) -> CaptchaChallenge:
        return CaptchaChallenge(payload={"question": "What is the configured answer?"}, state="")

    def verify(self, state: str, answer: str) -> bool:  # noqa: ARG002  every puzzle is the same
        return hmac.compare_digest(self.options.answer.encode(), answer.encode("utf-8", "replace"))


@hookimpl
def register_captcha_providers() -> list[type[CaptchaProvider[Any]]]:
    return [FixedCaptcha]
