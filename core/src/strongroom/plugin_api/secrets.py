"""Secrets of a plugin: ``host.secrets``.

A secret that is read again is sealed; any other one is hashed::

row = insert(tokens).values(user_id=user_id, sealed=host.secrets.seal(token))
"""

from abc import ABC, abstractmethod


class SecretsAPI(ABC):
    """Encrypts and hashes with keys of the installation. Each plugin has other keys."""

    @abstractmethod
    def seal(self, text: str) -> str:
        """Encrypt a secret for the plugin's own tables. No other plugin can decrypt it."""

    @abstractmethod
    def unseal(self, sealed: str) -> str:
        """Decrypt a text from :meth:`seal`.

        Raises:
            ValueError: another plugin or another installation has encrypted it.
        """

    @abstractmethod
    def keyed_hash(self, text: str) -> str:
        """Return a keyed hash (HMAC-SHA-256) of a text, in 64 hexadecimal digits.

        A plain hash of a text with few possible values, such as an address, is no secret. Each plugin
        has another key.
        """

    @abstractmethod
    def hash_password(self, password: str) -> str:
        """Return the bcrypt hash of a password, by the server's cost and its bounded pool.

        Raises:
            ApiError: ``error.unavailable``: too many requests wait for the pool.
        """

    @abstractmethod
    def verify_password(self, password: str, stored: str) -> bool:
        """Return whether a password matches a hash of :meth:`hash_password`.

        Raises:
            ApiError: ``error.unavailable``: too many requests wait for the pool.
        """
