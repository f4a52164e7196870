"""States of redirects: good for one purpose, also between purposes that any user may have."""

import pytest
from tests.support.api import Api

from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import StateInvalid
from strongroom.identity.sessions.oauth_states import OAuthStateStore


def test_a_state_is_spent_for_its_own_purpose_only(api: Api) -> None:
    states, origin = api.container.get(OAuthStateStore), Origin()
    state = states.issue("login", "browser", None, {"app": "site"}, origin).value
    with pytest.raises(StateInvalid):
        states.spend(state, "bind", "browser", None, origin)
    assert states.spend(state, "login", "browser", None, origin) == {"app": "site"}
