"""Exceptions of plugins for temporary faults: each has the same optional delay."""

import inspect

import pytest

from strongroom.plugin_api.backoff import RETRY_AFTER_SECONDS
from strongroom.plugin_api.captcha import CaptchaUnavailable
from strongroom.plugin_api.keys import KeyProviderUnavailable
from strongroom.plugin_api.login import LoginUnavailable
from strongroom.plugin_api.messages import SendingThrottled
from strongroom.plugin_api.scanning import ScannerUnavailable
from strongroom.plugin_api.storage import StorageUnavailable

TEMPORARY = [
    CaptchaUnavailable,
    KeyProviderUnavailable,
    LoginUnavailable,
    ScannerUnavailable,
    SendingThrottled,
    StorageUnavailable,
]


@pytest.mark.parametrize("kind", TEMPORARY)
def test_the_delay_is_optional_and_the_same_for_all(kind: type[Exception]) -> None:
    parameter = inspect.signature(kind).parameters["retry_after"]
    assert (parameter.kind, parameter.default) == (parameter.KEYWORD_ONLY, RETRY_AFTER_SECONDS)
    error = kind("The platform does not answer.")
    assert (str(error), vars(error)["retry_after"]) == ("The platform does not answer.", 5)
    assert vars(kind("It is busy.", retry_after=90))["retry_after"] == 90  # type: ignore[call-arg]
