"""What a page costs: calls of functions."""

from functools import partial

import pytest
from tests.support.api import Api
from tests.support.calls import calls

MOST_CALLS = 6_000


@pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_pages"]}})
def test_a_login_page_takes_few_calls(api: Api) -> None:
    client = api.app.test_client()
    # The first one compiles the templates.
    client.get("/account/login")
    answer, count = calls(partial(client.get, "/account/login"))
    assert answer.status_code == 200
    assert count <= MOST_CALLS
