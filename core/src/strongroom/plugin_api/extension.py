"""The base class of all extensions: a name, and options declared as a dataclass."""

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, TypeVar

SECRET_ENDINGS: Final = ("token", "secret", "password", "passphrase", "key")
"""How the names of options end that are secret unless their declaration has ``secret=False``."""


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of an extension that has none."""


OptionsT = TypeVar("OptionsT")


@dataclass(eq=False, repr=False)
class Extension(ABC, Generic[OptionsT]):
    """An extension that a plugin registers and the configuration selects by name.

    The core reads the extension's section of the configuration, validates it against
    :attr:`options_type` before the server starts, and passes the result to the constructor.
    """

    name: ClassVar[str]
    """The name in the configuration: lowercase letters, digits and underscores."""

    options_type: ClassVar[type[Any]] = NoOptions
    """A frozen dataclass whose fields are declared with :func:`option`."""

    options: OptionsT

    def attach(self, host: Any) -> None:
        """Receive the host of the extension's plugin. By default it is not kept. API 2.0.

        Called once per instance, after the constructor and before any other method. Only keep the host
        here: the data of the server can be used from the first call of another method on.

        Args:
            host: the :class:`~strongroom.plugin_api.host.HostAPI`, which an override names as the type.
                The host has methods for extensions, so this module cannot import it.
        """

    def close(self) -> None:
        """Release the resources of the extension.

        Called once per instance when its process ends: each server process when the server stops, and
        each command. Exceptions are logged and otherwise ignored. Before it starts, a server also
        constructs its extensions once in a separate process to check them. It discards these instances
        without calling this method.
        """


def option(
    default: Any = MISSING,
    *,
    help: str,  # noqa: A002  the word argparse and click use for the same thing
    default_factory: Callable[[], Any] | Any = MISSING,
    secret: bool | None = None,
    choices: Sequence[str] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    development_only: bool = False,
    advanced: bool = False,
) -> Any:
    """Declare one key of a configuration section as a dataclass field.

    The annotation gives the type: ``str``, ``int``, ``float``, ``bool``, :class:`pathlib.Path`,
    ``tuple[str, ...]``, ``dict[str, str]``, ``dict[str, Any]`` for a table that only the
    extension can check, another such dataclass, ``dict[str, ThatDataclass]`` for a table of tables, or
    one of them ``| None``. Check combinations of keys in ``__post_init__``: a
    ``ValueError`` raised there is reported to the operator as an error of the section or, if its text
    begins with ``key: ``, of that key.

    Args:
        default: the value if the key is absent; without a default the key is required.
        help: one sentence for the documentation, starting with the meaning of the value and its unit.
        default_factory: as in :func:`dataclasses.field`, for a mutable or computed default.
        secret: ``strongroom config show`` hides the value, and ``STRONGROOM__..._FILE`` can read it
            from a file. ``None`` decides by the name: a key is secret if its name ends in ``token``,
            ``secret``, ``password``, ``passphrase`` or ``key``. Such a key with a public value needs
            ``secret=False``.
        choices: the allowed values; empty: any.
        minimum: the minimum value, inclusive.
        maximum: the maximum value, inclusive.
        development_only: production refuses any other value than the default.
        advanced: ``strongroom config template`` omits the key unless it has the option ``--all``.
    """
    metadata = {
        "help": help,
        "secret": secret,
        "choices": tuple(choices),
        "range": (minimum, maximum),
        "development_only": development_only,
        "advanced": advanced,
    }
    values = {"default_factory": default_factory, "default": default}
    declared = field(
        **{name: value for name, value in values.items() if value is not MISSING}, metadata=metadata
    )
    declared.__class__ = _OptionField
    return declared


class _OptionField(Field[Any]):
    """A field whose name decides whether it is secret, unless its declaration does.

    :func:`dataclasses.field` creates it, because the base class has other parameters in each version of
    Python. A field has its name only when its class is created.
    """

    __slots__ = ()

    def __set_name__(self, owner: type[Any], name: str) -> None:
        secret = self.metadata["secret"]
        if secret is None:
            secret = name.lower().endswith(SECRET_ENDINGS)
        self.metadata = MappingProxyType({**self.metadata, "secret": secret})
        # Exclude secrets from the dataclass's repr, so that logs and tracebacks do not contain them.
        self.repr = not secret
