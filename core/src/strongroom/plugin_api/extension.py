"""What every registered class has in common: a name, and options declared as a dataclass."""

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any, ClassVar, Generic, TypeVar


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of an extension that has none."""


OptionsT = TypeVar("OptionsT")


class Extension(ABC, Generic[OptionsT]):
    """A named behaviour that a plugin registers and the configuration chooses by its name.

    The core reads the section of the configuration that belongs to the extension, validates it
    against :attr:`options_type` before the server starts, and hands over the result.
    """

    name: ClassVar[str]
    """The name in the configuration: lowercase letters, digits and underscores."""

    options_type: ClassVar[type[Any]] = NoOptions
    """A frozen dataclass whose fields are made by :func:`option`."""

    def __init__(self, options: OptionsT) -> None:
        self.options = options

    def close(self) -> None:
        """Release what the extension holds.

        Called once for an instance, when the process that uses it ends: each server process when the
        server stops, or a command. What it raises is logged and stops nothing. Before a server serves,
        it constructs its extensions once in a process of their own, to check them, and discards these
        instances without a call.
        """


def option(
    default: Any = MISSING,
    *,
    help: str,  # noqa: A002  the word argparse and click use for the same thing
    default_factory: Callable[[], Any] | Any = MISSING,
    secret: bool = False,
    choices: Sequence[str] = (),
    minimum: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Declare one key of a configuration section as a dataclass field.

    The annotation gives the type: ``str``, ``int``, ``float``, ``bool``, :class:`pathlib.Path`,
    ``tuple[str, ...]``, ``dict[str, str]``, another such dataclass, ``dict[str, ThatDataclass]`` for a
    table of tables, or one of them ``| None``. What no single key can tell, ``__post_init__`` checks: a
    ``ValueError`` raised there is shown to the deployer as a problem of the section, or, when its text
    begins with ``key: ``, of that key.

    Args:
        default: what holds when the key is absent; without it the key is required.
        help: one sentence for the documentation, starting with what the value is, with its unit.
        default_factory: as in :func:`dataclasses.field`, for a default that is made.
        secret: never shown by ``strongroom config show``, and readable from a file by
            ``STRONGROOM__..._FILE``.
        choices: the only values allowed.
        minimum: the least value allowed, inclusive.
        maximum: the greatest value allowed, inclusive.
    """
    metadata = {"help": help, "secret": secret, "choices": tuple(choices), "range": (minimum, maximum)}
    # A secret stays out of the dataclass's repr, and so out of logs and tracebacks.
    if default_factory is not MISSING:
        return field(default_factory=default_factory, repr=not secret, metadata=metadata)
    if default is not MISSING:
        return field(default=default, repr=not secret, metadata=metadata)
    return field(repr=not secret, metadata=metadata)
