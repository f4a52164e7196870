"""Recovery codes: a sheet of codes for users who have lost their second factor."""

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any, Final

from strongroom.plugin_api import NoOptions, hookimpl
from strongroom.plugin_api.factors import (
    Ceremony,
    EnrolledFactor,
    Enrolment,
    FactorProof,
    FactorUser,
    SecondFactor,
)
from strongroom.plugin_api.forms import FactorForm
from strongroom.plugin_api.login import Assurance

API_VERSION = "2.0"

COUNT: Final = 10
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH: Final = 16
_LOOKALIKES: Final = str.maketrans("ILO", "110")


class RecoveryCode(SecondFactor[NoOptions]):
    """Ten codes of 80 bits in Crockford's base 32, each for one use; a new sheet voids the old one."""

    name = "recovery_code"
    is_backup = True
    form = FactorForm(
        label={"en": "Recovery codes", "zh": "恢复码"},
        hint={
            "en": "Each code replaces your second factor once, if you lose it.",
            "zh": "无法使用两步验证时，每个恢复码可代替一次。",
        },
        field={"en": "Recovery code", "zh": "恢复码"},
        result={
            "en": "Print these codes or write them down. Each is valid once, and they are never shown"
            " again.",
            "zh": "请打印或抄写这些恢复码。每个只能使用一次，且不会再次显示。",
        },
        add={"en": "Create new codes", "zh": "生成新的恢复码"},
        use={"en": "Use a recovery code", "zh": "使用恢复码"},
        attributes={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"},
        needs_answer=False,
    )

    def begin_enrolment(self, _user: FactorUser, _enrolled: Sequence[EnrolledFactor]) -> Ceremony:
        """There is nothing to answer: the codes are shown when the enrolment is confirmed."""
        return Ceremony()

    def enrol(self, _ceremony: Ceremony, _answer: Any) -> Enrolment:
        codes = ["".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)) for _ in range(COUNT)]
        shown = ["-".join(code[start : start + 4] for start in range(0, _LENGTH, 4)) for code in codes]
        return Enrolment({"hashes": [_hash(code) for code in codes]}, {"recoveryCodes": shown})

    def verify(
        self, enrolled: Sequence[EnrolledFactor], _ceremony: Ceremony, answer: Any
    ) -> FactorProof | None:
        presented = _hash(_normal(answer)) if isinstance(answer, str) else ""
        for sheet in enrolled:
            # A plain comparison: the hash of a guess reveals nothing about the hash of a code.
            left = [each for each in sheet.data["hashes"] if each != presented]
            if len(left) < len(sheet.data["hashes"]):
                return FactorProof(sheet.id, Assurance(("otp",)), {"hashes": left})
        return None


def _normal(text: str) -> str:
    return text.replace("-", "").replace(" ", "").upper().translate(_LOOKALIKES)


def _hash(code: str) -> str:
    # 80 random bits cannot be guessed from a hash, and the core encrypts the data besides.
    return hashlib.sha256(code.encode()).hexdigest()


@hookimpl
def register_second_factors() -> list[type[SecondFactor[Any]]]:
    return [RecoveryCode]
