"""The browser of the kit for tests of pages keeps each form of a page."""

from typing import Any
from unittest.mock import Mock

from strongroom.testing.browser import Browser
from strongroom.testing.server import Reply

PAGE = """
<form action="/sessions/end"><input type="hidden" name="csrf" value="c">
<input type="hidden" name="session" value="1"><button>End</button></form>
<form action="/sessions/end"><input type="hidden" name="csrf" value="c">
<input type="hidden" name="session" value="2"><input name="reason"></form>
<form><button name="all" value="yes">All</button></form>
"""


def opened() -> tuple[Browser, Mock]:
    server: Any = Mock()
    server.request.return_value = Reply(200, {}, PAGE.encode())
    browser = Browser(server)
    browser.open("/sessions")
    return browser, server


def test_each_form_of_an_action_is_kept() -> None:
    browser, _ = opened()
    assert [(form.action, form.fields) for form in browser.all_forms] == [
        ("/sessions/end", {"csrf": "c", "session": "1"}),
        ("/sessions/end", {"csrf": "c", "session": "2"}),
        ("/sessions", {}),
    ]
    assert browser.forms == {"/sessions/end": {"csrf": "c", "session": "1"}, "/sessions": {}}


def test_the_form_that_has_the_fields_is_sent() -> None:
    for fields, session in (({}, "1"), ({"session": "2"}, "2"), ({"reason": "lost"}, "2")):
        browser, server = opened()
        browser.submit("/sessions/end", **fields)
        assert f"session={session}" in server.request.call_args.kwargs["body"].decode()
