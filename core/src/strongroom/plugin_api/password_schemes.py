"""Schemes of password hashes, so that users who come from another system keep their passwords.

An import states the hash of a user as JSON. The scheme of that name checks it and returns the text to
store. At each login the scheme verifies the password against that text; after the first success
the core replaces the hash by one of its own. The core bounds how many hashes are computed concurrently,
and equalizes the time of failures, the same for every scheme.

A digest such as MD5 is too fast to be stored. Its scheme returns it as :attr:`ImportedHash.digest`, and
the core stores only the slow hash of that digest::

    class OldShop(PasswordScheme):
        name = "old_shop"

        def parse(self, described):
            digest = described.get("hash")
            if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{40}", digest):
                raise HashRejected("hash must be 40 hexadecimal digits")
            return ImportedHash("old_shop", digest=digest)

        def digest(self, password, stored):
            return hashlib.sha1(password.encode()).hexdigest()

    @hookimpl
    def register_password_schemes():
        return [OldShop]
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strongroom.plugin_api.extension import Extension, NoOptions

Json = Mapping[str, Any]
"""A JSON object."""


class HashRejected(ValueError):
    """A hash is malformed, or to compute it would exceed a cap. The message says what is right."""


@dataclass(frozen=True, slots=True)
class ImportedHash:
    """A hash of another system, in the form that the core stores.

    Args:
        text: one line, from which the password can be verified; of a fast digest only its parameters,
            such as its salt.
        cost: the parameters that determine how long a verification takes, such as ``m=65536,t=3,p=4``.
            The core measures one hash of each cost.
        digest: the fast digest; the core stores only its own hash of it.
    """

    text: str = field(repr=False)
    cost: str = ""
    digest: str | None = field(default=None, repr=False)


class PasswordScheme(Extension[NoOptions]):
    """Verifies password hashes of one kind. All threads of a process share one instance.

    Every parameter that determines time or memory needs a cap, in :meth:`parse` and again before each
    computation, because a hash from an import is input, also when it comes from the database.
    """

    @abstractmethod
    def parse(self, described: Json, /) -> ImportedHash:
        """Check the hash of an import, without computing anything slow.

        An export of this server describes a hash as ``{"algorithm": NAME, "hash": TEXT}``, where TEXT is
        an :attr:`ImportedHash.text`. A scheme whose system describes hashes otherwise accepts both.

        Args:
            described: the member ``password`` of a user in an import; any JSON object.

        Raises:
            HashRejected: it is malformed, or exceeds a cap.
        """

    def verify(self, password: str, stored: str, /) -> bool:
        """Return whether a password matches an :attr:`ImportedHash.text`.

        Raises:
            HashRejected: the text is malformed, or exceeds a cap.
        """
        raise NotImplementedError(f"{self.name} has only digests")

    def digest(self, password: str, stored: str, /) -> str:
        """Return what :attr:`ImportedHash.digest` of a password is, given the text of its import.

        Raises:
            HashRejected: the text is malformed.
        """
        raise NotImplementedError(f"{self.name} has no digests")


class NewPasswordScheme(PasswordScheme):
    """A scheme that also makes hashes, for new passwords.

    Args:
        key: a secret of the server; without it, a stolen table is worthless.
        cost: the base-2 logarithm of the number of rounds.
    """

    def __init__(self, options: NoOptions, key: bytes, cost: int) -> None:
        super().__init__(options)
        self.key = key
        self.cost = cost

    @abstractmethod
    def hash(self, password: str, /) -> str:
        """Return the hash of a password, which includes its cost and salt."""

    @abstractmethod
    def is_outdated(self, stored: str, /) -> bool:
        """Return whether a hash has another cost than new ones."""

    @abstractmethod
    def pad(self, password: str, stored: str, /) -> None:
        """Take the time by which a wrong password takes less for a hash than for a new one."""
