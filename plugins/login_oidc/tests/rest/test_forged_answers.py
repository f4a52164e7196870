"""The corpus through the REST API: 0 logins, 0 failures of the server."""

import pytest
from tests.support.api import Answer, error_code
from tests.support.wechat import Browser

from strongroom.testing.clock import ManualClock

from ..forged import FORGED, Forgery
from ..hostile import HostileProvider
from .browsers import AUTHORIZATIONS, People

_DAY = 25 * 60 * 60 * 1000
_NO_PARAMETER = "redirect: iss is empty"
_PROVIDERS = {"max_age_seconds": "recent", "userinfo": "profile", "algorithms": "strict"}


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore:Key size should be")
def test_no_forged_answer_logs_in_and_none_is_a_failure_of_the_server(
    people: People, provider: HostileProvider, clock: ManualClock
) -> None:
    outcomes = {forgery.name: _outcome(people, provider, clock, forgery) for forgery in FORGED}
    assert {name: got for name, got in outcomes.items() if got[1] != _expected(name)} == {}
    provider.__dict__.update(HostileProvider(url=provider.url, now=clock.now() / 1000).__dict__)
    assert people.log_in().status_code == 200


def _expected(name: str) -> str:
    if name == _NO_PARAMETER:
        return "error.validation-failed"
    # Without a discovery document, no login can begin that could be answered.
    is_discovery = name.startswith(("discovery", "/.well-known"))
    return "error.oidc-unavailable" if is_discovery else "error.oidc-answer-invalid"


def _outcome(
    people: People, provider: HostileProvider, clock: ManualClock, forgery: Forgery
) -> tuple[int, str]:
    """Return the status and the error of a login with a forged answer."""
    # The provider's documents are fetched again.
    clock.advance(_DAY)
    honest = HostileProvider(url=provider.url, now=clock.now() / 1000)
    provider.__dict__.update(honest.__dict__)
    forgery.change(provider)
    answer = _log_in(people, next(map(_PROVIDERS.__getitem__, forgery.options), "company"))
    return answer.status_code, "" if answer.status_code == 200 else error_code(answer)


def _log_in(people: People, name: str) -> Answer:
    browser = Browser(people.api)
    began = people.begin(browser, name)
    if began.status_code != 201:
        return began
    return browser.post(AUTHORIZATIONS, people.confirm(began, name))
