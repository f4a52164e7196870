"""The contract about contacts, with mini programs that ask for the phone number."""

from collections.abc import Iterator

import pytest
from tests.support.wechat import wechat

from strongroom.testing.state import OpenedPlugin
from strongroom_login_oauth.testing import ContactsContract, PlatformContacts, opened_platform

from .harness import WeChatContacts


@pytest.fixture(scope="module")
def contacts() -> Iterator[PlatformContacts]:
    with wechat() as platform:
        yield WeChatContacts(platform)


@pytest.fixture(scope="module")
def opened(
    tmp_path_factory: pytest.TempPathFactory, contacts: PlatformContacts
) -> Iterator[OpenedPlugin]:
    with opened_platform(tmp_path_factory.mktemp("opened"), contacts) as opened:
        yield opened


class TestContacts(ContactsContract):
    """The users of numbers of WeChat."""
