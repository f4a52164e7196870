"""Tests for the contract suite of login methods."""

import logging
from pathlib import Path
from typing import Any, NoReturn

import pytest

from strongroom.plugin_api.login import LoginAttempt, LoginMethod, LoginRejected
from strongroom.testing.login import CLIENT, LoginMethodContract

FOLDER = Path(__file__).parent.name
"""A word that is a part of the paths in a traceback."""


class Refusing:
    """A login method that refuses each attempt with an error that has a cause, and logs the error."""

    def __init__(self, message: str) -> None:
        self._message = message

    def authenticate(self, attempt: LoginAttempt) -> None:
        try:
            _fail(self._message)
        except LookupError as error:
            logging.getLogger(__name__).exception("the attempt was refused")
            raise LoginRejected("the code is unknown") from error


def _fail(message: str) -> NoReturn:
    raise LookupError(message)


def check(message: str, caplog: pytest.LogCaptureFixture) -> None:
    method: Any = Refusing(message)
    attempt = LoginAttempt(CLIENT, proof={"provider": FOLDER, "code": "8d8f9a7c"})
    refused: LoginMethod[Any] = method
    LoginMethodContract().test_nothing_shows_the_secrets_of_an_attempt(refused, attempt, caplog)


def test_a_folder_with_the_name_of_a_provider_is_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    check("no such code", caplog)


def test_a_cause_that_shows_a_secret_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AssertionError, match="8d8f9a7c"):
        check("no such code: 8d8f9a7c", caplog)
