"""States of redirects: good for one purpose, also between purposes that any user may have."""

import re

import pytest
from tests.support.api import Api

from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import StateInvalid
from strongroom.identity.sessions.oauth_states import OAuthStateStore
from strongroom.plugin_api.web import prefix_of_state


def test_a_state_is_spent_for_its_own_purpose_only(api: Api) -> None:
    states, origin = api.container.get(OAuthStateStore), Origin()
    state = states.issue("login", "browser", None, {"app": "site"}, origin).value
    with pytest.raises(StateInvalid):
        states.consume(state, "bind", "browser", None, origin)
    assert states.consume(state, "login", "browser", None, origin) == {"app": "site"}


@pytest.mark.parametrize("purpose", ["login", "connect"])
def test_a_state_has_letters_and_digits_only_and_names_its_purpose(api: Api, purpose: str) -> None:
    """WeCom accepts at most 128 bytes of a-z, A-Z and 0-9, and Alipay 100 characters."""
    state = api.container.get(OAuthStateStore).issue(purpose, "browser", None, {}, Origin()).value
    assert re.fullmatch(r"[A-Za-z0-9]{64,100}", state)
    assert state.startswith(prefix_of_state(purpose))
