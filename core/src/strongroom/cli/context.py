"""The context that commands share: the configuration, and the services built from it."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from strongroom.cli.output import echo
from strongroom.foundation.config import Configuration, load
from strongroom.plugin_api.storage import StorageError

if TYPE_CHECKING:
    from strongroom.assembly.container import Container

T = TypeVar("T")


def require_ownership(
    configuration: Configuration, container: "Container"
) -> Mapping[str, StorageError]:
    """Claim unowned stores, and return the errors of temporarily unusable ones by storage name.

    Raises:
        ConfigurationError: a store belongs to another database, or the operator must claim it.
    """
    from strongroom.content.storage.service import BlobService

    errors: dict[str, StorageError] = {}
    for name, store in container.get(BlobService).storages.items():
        try:
            if fault := store.ownership_fault():
                configuration.add_error(("storages", name), fault)
        except StorageError as error:
            errors[name] = error
    configuration.raise_if_invalid()
    return errors


class CommandContext:
    """The configuration of one run of the command line; loaded lazily."""

    def __init__(self, config_path: Path | None) -> None:
        self.config_path = config_path
        self._opened: Container | None = None

    @cached_property
    def configuration(self) -> Configuration:
        """The configuration.

        Raises:
            ConfigurationError: it is invalid.
        """
        return load(self.config_path, os.environ)

    @contextmanager
    def container(self, *, any_secret: bool = False) -> Iterator["Container"]:
        """Build the services, check the schema and the secret key, and close the services afterwards.

        Args:
            any_secret: accept a secret key that does not match the database.
        """
        from strongroom.assembly.container import build
        from strongroom.cli.database_checks import require_own_secret, require_served_schema

        container = build(self.configuration, patient=True)
        try:
            require_served_schema(
                self.configuration, container.database, container.selection.plugins.tables
            )
            if not any_secret:
                require_own_secret(self.configuration, container.database, container.base.keys)
            yield container
        finally:
            container.close()

    @contextmanager
    def owning_container(self) -> Iterator["Container"]:
        """Do as :meth:`container`, for commands that remove or move bytes.

        Raises:
            ConfigurationError: a store belongs to another database.
        """
        with self.container() as container:
            # The command itself reports a store that is unavailable.
            require_ownership(self.configuration, container)
            yield container

    def plugin_commands(self) -> dict[str, click.Command]:
        """Return the commands of the enabled plugins; print a warning for each plugin that fails."""
        from strongroom.assembly.plugin_host.hosts import PluginHosts
        from strongroom.cli.plugin_commands import collect_commands
        from strongroom.clock import SystemClock
        from strongroom.foundation.plugins.selection import select

        selection = select(self.configuration)
        hosts = PluginHosts(
            self.configuration.settings,
            selection.plugins,
            selection.options,
            SystemClock(),
            self._services,
        )
        commands, faults = collect_commands(hosts)
        for fault in faults:
            warn(f"{fault}; its commands are missing")
        return commands

    def _services(self) -> "Container":
        """Return the services for the command of a plugin; they are closed when the command ends."""
        if self._opened is None:
            resources = ExitStack()
            self._opened = resources.enter_context(self.container())
            click.get_current_context().find_root().call_on_close(resources.close)
        return self._opened


def plugins_checked(context: CommandContext, collect: Callable[[], T]) -> T:
    """Return what plugins register.

    Raises:
        ConfigurationError: a plugin failed, or returned something that cannot be used.
    """
    from strongroom.foundation.plugins.plugin import PluginError

    try:
        return collect()
    except PluginError as error:
        context.configuration.add_error(("plugins", "enabled"), str(error))
        context.configuration.raise_if_invalid()
        raise


def warn(message: str) -> None:
    """Print a warning on standard error."""
    echo(f"strongroom: warning: {message}", err=True)


def _choose_config(ctx: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
    if path is not None:
        ctx.obj = CommandContext(path)


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path),
    expose_value=False,
    callback=_choose_config,
    help="The configuration file; also accepted before the command.",
)
"""Lets a command accept ``--config`` after its name as well."""
