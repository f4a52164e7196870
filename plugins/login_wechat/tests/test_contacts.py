"""The contract about contacts, with mini programs that ask for the phone number."""

from collections.abc import Iterator

import pytest
from tests.support.wechat import wechat

from strongroom_login_oauth.testing import ContactsContract, PlatformContacts

from .harness import WeChatContacts


@pytest.fixture(scope="module")
def contacts() -> Iterator[PlatformContacts]:
    with wechat() as platform:
        yield WeChatContacts(platform)


class TestContacts(ContactsContract):
    """The users of numbers of WeChat."""
