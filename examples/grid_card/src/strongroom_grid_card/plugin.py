"""A second factor: a card with a grid of numbers, which the user prints at the enrolment."""

import hmac
import secrets
from collections.abc import Sequence
from typing import Any, Final

from strongroom.plugin_api import NoOptions, hookimpl
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
from strongroom.plugin_api.login import Assurance

API_VERSION = "2.0"

COLUMNS: Final = "ABCDEFGH"
ROWS: Final = "12345678"
ASKED: Final = 3
"""Cells of a challenge: a million answers."""


class GridCard(SecondFactor[NoOptions]):
    """Sixty-four cells of two digits; each challenge asks for three of them."""

    name = "grid_card"
    form = FactorForm(
        label={"en": "Grid card", "zh": "矩阵卡"},
        hint={
            "en": "Log in with the password and three numbers of a card that you print.",
            "zh": "登录时输入密码，以及您打印的卡片上的三个数字。",
        },
        field={"en": "Numbers in {grid}", "zh": "{grid} 中的数字"},
        instruction={
            "en": "Print this card, and keep it apart from your password.",
            "zh": "请打印此卡片，并与密码分开保管。",
        },
        attributes={"inputmode": "numeric"},
        # Only the enrolment has a part of its own, with the card; the challenge is the generic one.
        template="card.html",
    )

    def begin_enrolment(self, _user: FactorUser, _enrolled: Sequence[EnrolledFactor]) -> Ceremony:
        card = [[f"{secrets.randbelow(100):02}" for _ in COLUMNS] for _ in ROWS]
        asked = _ask()
        return Ceremony({"card": card, "grid": " ".join(asked)}, {"card": card, "asked": asked})

    def enrol(self, ceremony: Ceremony, answer: Any) -> Enrolment:
        """Require three cells, so that a card that was not printed is not enrolled."""
        card, asked = ceremony.state["card"], ceremony.state["asked"]
        if not _is_right(card, asked, answer):
            raise FactorRejected("Must be the numbers in the three cells, six digits.")
        return Enrolment({"card": card, "last": ""})

    def begin_challenge(self, _enrolled: Sequence[EnrolledFactor]) -> Ceremony:
        asked = _ask()
        return Ceremony({"grid": " ".join(asked)}, {"asked": asked, "nonce": secrets.token_hex(8)})

    def verify(
        self, enrolled: Sequence[EnrolledFactor], ceremony: Ceremony, answer: Any
    ) -> FactorProof | None:
        asked, nonce = ceremony.state["asked"], ceremony.state["nonce"]
        for each in enrolled:
            # The data has the last challenge, so that an answer to it counts once.
            if nonce != each.data["last"] and _is_right(each.data["card"], asked, answer):
                return FactorProof(each.id, Assurance(("otp",)), {**each.data, "last": nonce})
        return None


def _ask() -> list[str]:
    cells = [column + row for row in ROWS for column in COLUMNS]
    return secrets.SystemRandom().sample(cells, ASKED)


def _is_right(card: Sequence[Sequence[str]], asked: Sequence[str], answer: Any) -> bool:
    digits = "".join(answer.split()) if isinstance(answer, str) else ""
    expected = "".join(card[ROWS.index(cell[1])][COLUMNS.index(cell[0])] for cell in asked)
    return hmac.compare_digest(expected.encode(), digits.encode("utf-8", "replace"))


@hookimpl
def register_second_factors() -> list[type[SecondFactor[Any]]]:
    return [GridCard]
