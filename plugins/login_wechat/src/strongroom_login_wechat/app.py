"""Base class of the two kinds of app, which identify a person."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """A person's identity in one app, verified by the platform.

    Args:
        openid: the person's id, constant in this app and different in every other.
        unionid: the person's id in all apps of one open-platform account. It may be absent, and
            appear at a later login.
        mobile: a number that the platform has verified, in E.164.
        nickname: the person's display name; it is not an identifier.
    """

    openid: str
    unionid: str | None = None
    mobile: str | None = None
    nickname: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class App(ABC):
    """An app registered with WeChat. Thread-safe.

    Args:
        account: the name of the open-platform account within which unionids are constant.
    """

    appid: str
    account: str

    @abstractmethod
    def identify(self, proof: Mapping[str, str]) -> Identity:
        """Return the identity that a client's proof verifies; redeems the codes in the proof.

        Raises:
            ClientFault: the proof is invalid.
            ProviderError: the platform could not verify it.
        """
