"""Captcha providers: puzzles that people solve more cheaply than programs.

A provider makes a puzzle and judges an answer. That a puzzle expires and is used once, on whatever
node the answer arrives, is the core's affair.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strongroom.plugin_api.extension import Extension, OptionsT


@dataclass(frozen=True, slots=True)
class CaptchaChallenge:
    """A puzzle.

    Args:
        payload: what the client is shown, as JSON values: ``image``, ``audio`` and so on.
        state: what the provider needs to judge an answer; the core keeps it, encrypted.
    """

    payload: Mapping[str, object]
    state: str = field(repr=False)


class CaptchaUnavailable(Exception):
    """The service that judges answers does not answer; the core answers 503, and the puzzle stays good.

    Args:
        message: for the operator's log.
        retry_after: seconds after which trying again makes sense.
    """

    def __init__(self, message: str, *, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class CaptchaProvider(Extension[OptionsT]):
    """Makes puzzles and judges answers. One instance serves all threads of a process at once."""

    kind: ClassVar[str]
    """What a client is told to expect in the payload, such as ``image``."""

    development_only: ClassVar[bool] = False
    """Whether a server in production mode must refuse to start with it."""

    @abstractmethod
    def issue(self) -> CaptchaChallenge:
        """Make a new puzzle."""

    @abstractmethod
    def verify(self, state: str, answer: str) -> bool:
        """Return whether ``answer``, which is never empty, solves the puzzle of ``state``.

        Raises:
            CaptchaUnavailable: the service that judges answers does not answer.
        """

    def verify_from(self, state: str, answer: str, client_address: str | None) -> bool:  # noqa: ARG002
        """Return what :meth:`verify` does; the core calls this one.

        Override it for a service that also wants the client's network address.

        Raises:
            CaptchaUnavailable: the service that judges answers does not answer.
        """
        return self.verify(state, answer)
