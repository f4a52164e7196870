"""Documents of a provider that are fetched once and kept: discovery and keys."""

import logging
import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from strongroom_login_oauth.errors import ProviderUnavailable

ValueT = TypeVar("ValueT")

MAX_AGE: Final = 24 * 60 * 60
"""Seconds after which a document is fetched again."""

PAUSE: Final = 60
"""Seconds between two requests for a document that is there already."""

FAILURE_PAUSE: Final = 5
"""Seconds for which a failure counts: not each login waits for a provider that is down."""

_logger = logging.getLogger(__name__)


class CachedDocument(Generic[ValueT]):
    """A document of the provider. Thread-safe.

    Args:
        name: what it is, for the log.
        fetch: requests it. Raises :class:`ProviderUnavailable` while the provider is down.
        clock: returns seconds.
    """

    def __init__(self, name: str, fetch: Callable[[], ValueT], clock: Callable[[], float]) -> None:
        self._name = name
        self._fetch = fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._value: ValueT | None = None
        self._fetched_at = self._tried_at = 0.0
        self._failure: ProviderUnavailable | None = None

    def get(self) -> ValueT:
        """Return the document; an old one while the provider is down.

        Raises:
            ProviderUnavailable: the provider is down, and there is no old one.
            ClientFault: the document is invalid.
        """
        value = self._value
        if value is not None and self._clock() - self._fetched_at < MAX_AGE:
            return value
        return self._get_newer(MAX_AGE)

    def refresh(self) -> ValueT:
        """Return the document, fetched within the last minute; raises the errors of :meth:`get`."""
        return self._get_newer(PAUSE)

    def _get_newer(self, age: float) -> ValueT:
        with self._lock:
            # Another thread may have fetched it meanwhile.
            if self._value is not None and self._clock() - self._fetched_at < age:
                return self._value
            if self._failure is None or self._clock() - self._tried_at >= self._pause():
                self._try()
            if self._value is None:
                raise ProviderUnavailable(str(self._failure))
            return self._value

    def _pause(self) -> float:
        return FAILURE_PAUSE if self._value is None else PAUSE

    def _try(self) -> None:
        self._tried_at = self._clock()
        try:
            self._value = self._fetch()
        except ProviderUnavailable as error:
            self._failure = error
            _logger.warning("%s: %s", self._name, error)
            return
        self._fetched_at, self._failure = self._tried_at, None
