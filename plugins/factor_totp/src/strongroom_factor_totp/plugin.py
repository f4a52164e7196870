"""The plugin's hooks and the second factor: time-based one-time passwords (RFC 6238)."""

import hmac
import io
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.factors import (
    Ceremony,
    EnrolledFactor,
    Enrolment,
    FactorProof,
    FactorRejected,
    FactorUser,
    SecondFactor,
)
from strongroom.plugin_api.forms import FactorForm
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import Assurance
from strongroom.plugin_api.web import Blueprint
from strongroom_factor_totp.routes import routes

API_VERSION = "2.0"

STEP_SECONDS: Final = 30
DIGITS: Final = 6
DRIFT: Final = 1
"""Steps by which the clock of the user's device may be ahead or behind (RFC 6238, section 5.2)."""


@dataclass(frozen=True, slots=True)
class TotpOptions:
    """The keys of ``[second_factors.totp]``."""

    issuer: str = option("Strongroom", help="The name of the account in authenticator apps.")


_SECRET: Final = re.compile("[A-Z2-7]{16,103}")


class Totp(SecondFactor[TotpOptions]):
    """Codes of six digits that an authenticator app derives from a secret and the time.

    SHA-1, six digits and 30 seconds, because common apps ignore all other parameters. Each code counts
    once: the data has the step of the last one, and only later steps are right.

    Args:
        clock: returns the time in seconds since the Unix epoch.
    """

    name = "totp"
    options_type = TotpOptions
    form = FactorForm(
        label={"en": "Authenticator app", "zh": "身份验证器应用"},
        hint={
            "en": "Log in with the password and a code that an app shows.",
            "zh": "登录时输入密码和应用显示的验证码。",
        },
        field={"en": "Code of your authenticator app", "zh": "身份验证器应用中的验证码"},
        instruction={
            "en": "Scan the picture with your authenticator app, then enter the code of the app.",
            "zh": "用身份验证器应用扫描图片，然后输入应用显示的验证码。",
        },
        add={"en": "Set up an app", "zh": "设置应用"},
        attributes={"inputmode": "numeric", "data-digits": str(DIGITS)},
        template="totp.html",
        policy={"img-src": "data:"},
    )

    def __init__(self, options: TotpOptions, clock: Callable[[], float] | None = None) -> None:
        super().__init__(options)
        self._clock = clock or time.time

    def begin_enrolment(self, user: FactorUser, _enrolled: Sequence[EnrolledFactor]) -> Ceremony:
        """Return a new secret of 160 bits: as text, as an ``otpauth`` URI, and as a QR code in SVG."""
        # Imported on demand: most processes enrol no user.
        import pyotp

        secret = pyotp.random_base32()
        uri = pyotp.TOTP(secret).provisioning_uri(name=user.account, issuer_name=self.options.issuer)
        # pyotp omits the values that apps assume; some apps assume others.
        uri += f"&algorithm=SHA1&digits={DIGITS}&period={STEP_SECONDS}"
        shown = {"secret": secret, "uri": uri, "qr": _qr_code(uri)}
        return Ceremony(shown, {"secret": secret})

    def enrol(self, ceremony: Ceremony, answer: Any) -> Enrolment:
        """Require a right code, so that an app that shows wrong ones is not enrolled."""
        secret = ceremony.state["secret"]
        step = self._find_step(secret, answer, after=-1)
        if step is None:
            raise FactorRejected("Must be the code that the app shows now, six digits.")
        # The code of the enrolment is consumed, too.
        return Enrolment({"secret": secret, "step": step})

    def verify(
        self, enrolled: Sequence[EnrolledFactor], _ceremony: Ceremony, answer: Any
    ) -> FactorProof | None:
        for each in enrolled:
            step = self._find_step(each.data["secret"], answer, after=each.data["step"])
            if step is not None:
                data = {**each.data, "step": step}
                return FactorProof(each.id, Assurance(("otp",)), data)
        return None

    def imported(self, described: Any) -> Enrolment:
        """Accept a secret in base 32, as apps show it: of 80 to 512 bits, with blanks or without."""
        secret = described.replace(" ", "").rstrip("=").upper() if isinstance(described, str) else ""
        if not _SECRET.fullmatch(secret) or len(secret) % 8 in (1, 3, 6):
            raise FactorRejected("Must be a secret of 80 to 512 bits in base 32.")
        return Enrolment({"secret": secret, "step": -1})

    def exported(self, enrolled: EnrolledFactor) -> str:
        secret: str = enrolled.data["secret"]
        return secret

    def _find_step(self, secret: str, answer: Any, *, after: int) -> int | None:
        """Return the step whose code is the answer, if it is current and later than ``after``."""
        import pyotp

        code = answer.replace(" ", "") if isinstance(answer, str) else ""
        totp, now = pyotp.TOTP(secret), int(self._clock()) // STEP_SECONDS
        # pyotp's verify() does not return the matched step; without it, a code would count many times.
        steps = range(max(now - DRIFT, after + 1), now + DRIFT + 1)
        right = [step for step in steps if _is_same(totp.generate_otp(step), code)]
        return right[0] if right else None


def _is_same(expected: str, code: str) -> bool:
    return hmac.compare_digest(expected.encode(), code.encode())


def _qr_code(uri: str) -> str:
    import segno

    svg = io.BytesIO()
    segno.make(uri, error="m").save(svg, kind="svg", scale=4, xmldecl=False)
    return svg.getvalue().decode()


@hookimpl
def register_second_factors() -> list[type[SecondFactor[Any]]]:
    return [Totp]


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    return [routes] if host.extension(Totp) else []
