"""Pages with the brand of the example company."""

from typing import Final

from tests.support.screens.account import ACCOUNT
from tests.support.screens.registration import REGISTRATION
from tests.support.screens.shares import SHARES
from tests.support.screens.sign_in import SIGN_IN

_SHOWN: Final = frozenset(
    {
        "login",
        "login with an error",
        "entry of a code",
        "enrolment that is due",
        "reset of a password",
        "registration",
        "code of a registration",
        "account",
        "devices",
        "deletion",
        "shared folder",
        "drop box",
        "share with a password",
    }
)


BRAND: Final = tuple(
    screen for screen in (*SIGN_IN, *REGISTRATION, *ACCOUNT, *SHARES) if screen.name in _SHOWN
)
