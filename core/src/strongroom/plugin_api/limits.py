"""Limits of a plugin: ``host.limits``.

They are exact across all workers and nodes::

host.limits.check_rate("report", ["20/hour"])
if not host.limits.count_attempt("pin", [(user_id, 5)], seconds=900):
    raise ApiError(TOO_MANY_PINS)
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence


class LimitsAPI(ABC):
    """Counts what clients and users do. The names of limits are the plugin's own."""

    @abstractmethod
    def check_rate(self, name: str, rates: Sequence[str], subject: str | None = None) -> None:
        """Count an event for a subject, and refuse it beyond its rates.

        Args:
            name: the name of the limit, within the plugin.
            rates: the rates, such as ``600/hour``; all of them apply.
            subject: the user or object to count for; ``None``: the client's address.

        Raises:
            ApiError: ``error.too-many-requests``, or ``error.unavailable`` without a backend.
        """

    @abstractmethod
    def count_attempt(self, name: str, limits: Sequence[tuple[str, int]], *, seconds: int) -> bool:
        """Count an attempt for several subjects, and return whether each is within its limit.

        For proofs that are guessed: the attempt is counted before it is evaluated, so that parallel
        ones cannot exceed the limit. :meth:`forgive_attempt` takes back an attempt that was right.

        Args:
            name: the name of the limit, within the plugin.
            limits: the subjects, such as an address, with the number of attempts in a window.
            seconds: the length of the window, which begins with its first attempt.
        """

    @abstractmethod
    def forgive_attempt(self, name: str, subjects: Sequence[str]) -> None:
        """Take back an attempt of :meth:`count_attempt`."""

    @property
    @abstractmethod
    def client_network(self) -> str:
        """The client's address that limits count by: an IPv4 address, or the /64 of an IPv6 address."""

    @abstractmethod
    def require_captcha(self, captcha: Mapping[str, str] | None) -> None:
        """Require a solved captcha, ``{"id", "answer"}`` of the request's body.

        Raises:
            ApiError: ``error.captcha-required`` without one, ``error.captcha-invalid``.
        """
