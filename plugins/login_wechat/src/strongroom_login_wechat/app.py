"""What the two kinds of app have in common: they tell who a person is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as one app knows them, vouched for by the platform.

    Args:
        openid: the person's id, constant in this app and different in every other.
        unionid: the person's id in all apps of one open-platform account. It may be absent, and
            appear at a later login.
        mobile: a number that the platform has verified, in E.164.
        nickname: what the person calls themselves. It identifies nobody.
    """

    openid: str
    unionid: str | None = None
    mobile: str | None = None
    nickname: str | None = None


class App(ABC):
    """An app registered with WeChat. One instance serves all threads of a process at once.

    Args:
        appid: its id.
        account: the name of the open-platform account within which unionids are constant.
    """

    def __init__(self, appid: str, account: str) -> None:
        self.appid = appid
        self.account = account

    @abstractmethod
    def identify(self, proof: Mapping[str, str]) -> Identity:
        """Return whom a client's proof shows, using it up.

        Raises:
            ClientFault: it shows nobody.
            WeChatError: the platform cannot tell.
        """
