"""Captcha providers: challenges that are cheaper to solve for people than for programs.

A provider creates challenges and checks answers. The core expires challenges and ensures that each is
used once, also across nodes.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strongroom.plugin_api.backoff import RETRY_AFTER_SECONDS
from strongroom.plugin_api.extension import Extension, OptionsT
from strongroom.plugin_api.forms import CaptchaWidget


@dataclass(frozen=True, slots=True)
class CaptchaChallenge:
    """A challenge.

    Args:
        payload: the JSON members for the client: ``image``, ``audio`` and so on.
        state: the data that the provider needs to check an answer; the core stores it encrypted.
            It is not in ``payload``, which the client gets.
    """

    payload: Mapping[str, object]
    state: str = field(repr=False)


class CaptchaUnavailable(Exception):
    """The service that checks answers is unavailable.

    The core responds with 503, and the challenge stays valid.

    Args:
        message: a line for the operator's log.
        retry_after: seconds after which the client may retry.
    """

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class CaptchaProvider(Extension[OptionsT]):
    """Creates challenges and checks answers. All threads of a process share one instance."""

    kind: ClassVar[str]
    """The type of the payload, for clients, such as ``image``."""

    widget: CaptchaWidget = CaptchaWidget()
    """Its form on pages; the generic one shows an image, speech and a question, and asks for a text."""

    development_only: ClassVar[bool] = False
    """Whether a server in production mode must refuse to start with it."""

    @abstractmethod
    def issue(self) -> CaptchaChallenge:
        """Create a new challenge."""

    @abstractmethod
    def verify(self, state: str, answer: str) -> bool:
        """Return whether ``answer``, which is never empty, solves the challenge of ``state``.

        Raises:
            CaptchaUnavailable: the service that checks answers is unavailable.
        """

    def verify_from(self, state: str, answer: str, client_address: str | None) -> bool:  # noqa: ARG002
        """Like :meth:`verify`, with the client's address; the core calls this method.

        Override it for a service that uses the client's network address. By default it calls
        :meth:`verify`.

        Raises:
            CaptchaUnavailable: the service that checks answers is unavailable.
        """
        return self.verify(state, answer)
