"""Requests in which a plugin calls its host as the caller."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from tests.support.api import Answer, Api, Person, error_code


@contextmanager
def refusal(code: str) -> Iterator[None]:
    """Expect an error of the API by its code, without ``error.``."""
    with pytest.raises(ApiError) as raised:
        yield
    assert raised.value.code == f"error.{code}"


@contextmanager
def request_of(api: Api, host: HostAPI, person: Person, scope: Scope | None = None) -> Iterator[None]:
    """Play a mounted application of a plugin that serves a request with a token or access key."""
    headers = {"Authorization": f"Bearer {person.token}"}
    base = {"REMOTE_ADDR": "192.0.2.7"}
    with api.app.test_request_context("/mounted", environ_base=base, headers=headers):
        host.authenticate(scope=scope)
        yield


def outcome(call: Callable[[], object]) -> str:
    """Return ``ok``, or the code of the error that a call of the host raises."""
    try:
        call()
    except ApiError as problem:
        return problem.code
    return "ok"


def outcome_of(answer: Answer) -> str:
    """Return ``ok``, or the code of the error of a response."""
    return "ok" if answer.status_code < 300 else error_code(answer)
