"""Services of features: groups of lazy properties, each in the folder of its feature."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol, TypeVar, cast

from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.config import Configuration, Settings
from strongroom.foundation.database import Database
from strongroom.foundation.limits.service import Counters, RateLimits
from strongroom.foundation.plugins.selection import ExtensionSpec, ExtensionT, Selection
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.foundation.translations import Translations
from strongroom.plugin_api.keys import KeyProvider
from strongroom.web.parts import Part

PRUNING: Final = Origin(user_agent="prune")
"""The origin of audit events of pruning, by the job or by the command."""


class ServiceMetrics(Protocol):
    """What services measure."""

    def audit_event(self, event: Any, /) -> None:
        """Count an audit event."""

    def hashing(self) -> AbstractContextManager[None]:
        """Count a password hash that is computed or queued."""

    def message(self, channel: str, outcome: str) -> None:
        """Count a message that was sent, or could not be sent."""

    def scan(self, scanner: str, state: str, seconds: float) -> None:
        """Count a finished scan of one scanner."""


class BaseServices(Protocol):
    """What services of all features may use."""

    @property
    def configuration(self) -> Configuration: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def selection(self) -> Selection: ...

    @property
    def resources(self) -> ExitStack:
        """Receives everything that must be closed at the end of the process."""

    @property
    def keys(self) -> SecretKeys: ...

    @property
    def metrics(self) -> ServiceMetrics | None: ...

    @property
    def database(self) -> Database: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def translations(self) -> Translations: ...

    @property
    def counters(self) -> Counters: ...

    @property
    def rates(self) -> RateLimits: ...

    @property
    def key_provider(self) -> KeyProvider[Any]: ...

    def construct(
        self, choice: ExtensionSpec[ExtensionT], path: tuple[str, ...], *services: Any
    ) -> ExtensionT:
        """Construct an extension, and close it at the end of the process.

        Raises:
            ConfigurationError: the constructor failed.
        """

    def refuse(self, path: tuple[str, ...], message: str, *, is_temporary: bool = False) -> NoReturn:
        """Raise a ``ConfigurationError`` for a key of the configuration."""

    def generated(self, path: Path) -> Path:
        """Return the path of a file that the server generates if it is missing."""

    def on_wait(self, queue: str) -> Callable[[float], None]:
        """Return what records the seconds that work has waited in a queue."""


class ServiceGroup(Part):
    """Services of a feature: each is a ``cached_property``, and private if only its group uses it.

    A service creates those that it names, so the dependencies determine the order of creation. Resources
    close in the reverse order, each after the services that use it.

    Args:
        group: returns the group of a class, of this feature or of one below.
    """

    def __init__(self, base: BaseServices, group: "Groups") -> None:
        self._base = base
        self._group = group
        self._database = base.database
        self._clock = base.clock
        self._settings = base.settings

    def connect(self) -> None:
        """Register its rules with services of the features below, which do not know them."""

    def services(self) -> Iterator[object]:
        """Iterate over the services that routes and other groups can use; create them if necessary.

        Raises:
            ConfigurationError: a key has a value that cannot be used.
        """
        for name, member in vars(type(self)).items():
            if isinstance(member, cached_property) and not name.startswith("_"):
                yield getattr(self, name)


GroupT = TypeVar("GroupT", bound=ServiceGroup)


class Groups:
    """The groups of services of a process, each created at its first use.

    Args:
        kinds: the groups of the features of the process.
    """

    def __init__(self, base: BaseServices, kinds: Iterable[type[ServiceGroup]]) -> None:
        self._base = base
        self._kinds = tuple(kinds)
        self._groups: dict[type[ServiceGroup], ServiceGroup] = {}

    def __call__(self, kind: type[GroupT]) -> GroupT:
        """Return the group of a class."""
        if kind not in self._groups:
            self._groups[kind] = kind(self._base, self)
        return cast("GroupT", self._groups[kind])

    def __iter__(self) -> Iterator[ServiceGroup]:
        """Iterate over the groups of the features."""
        return map(self, self._kinds)

    def services(self) -> Iterator[object]:
        """Iterate over the services of all features, and of those that they use.

        Raises:
            ConfigurationError: a key has a value that cannot be used.
        """
        for group in self:
            yield from group.services()
        for kind in [kind for kind in self._groups if kind not in self._kinds]:
            yield from self(kind).services()
