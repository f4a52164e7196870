"""Key providers: master keys that wrap the keys of other extensions, such as encrypted storages.

A master key never leaves its provider. What it wraps is small and few: a key per tenant, not the
content of files.
"""

from abc import abstractmethod

from strongroom.plugin_api.backoff import RETRY_AFTER_SECONDS
from strongroom.plugin_api.extension import Extension, OptionsT


class KeyProviderError(Exception):
    """The base class of errors that a key provider may raise."""


class WrongMasterKey(KeyProviderError):
    """The provider has no master key that opens a wrapped key, or the wrapped key is damaged."""


class KeyProviderUnavailable(KeyProviderError):
    """The provider does not respond, which may be temporary; the core responds with 503.

    Args:
        message: a line for the operator's log.
        retry_after: seconds after which the client may retry.
    """

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class KeyProvider(Extension[OptionsT]):
    """Wraps keys with a master key. All threads of a process share one instance.

    A provider may have several master keys: the current one, which wraps, and former ones, which only
    unwrap. Any method may raise :class:`KeyProviderUnavailable`; a driver's own exceptions must not
    escape.
    """

    @abstractmethod
    def wrap(self, key: bytes, context: bytes) -> bytes:
        """Encrypt and authenticate a key of at most 64 bytes with the current master key.

        Args:
            key: the key to wrap.
            context: data that :meth:`unwrap` must be called with again; it is not secret and need not
                be part of the result.

        Returns:
            At most 1,024 bytes, which name the master key.
        """

    @abstractmethod
    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Return the key from :meth:`wrap`.

        Raises:
            WrongMasterKey: the master key is not one of this provider, or ``wrapped`` or ``context``
                differs.
        """

    @abstractmethod
    def is_current(self, wrapped: bytes) -> bool:
        """Return whether the current master key has wrapped a key."""

    @abstractmethod
    def rotate(self) -> str:
        """Make a new master key the current one, and return its id. Former keys still unwrap.

        Other processes that use the provider need not be restarted.
        """
