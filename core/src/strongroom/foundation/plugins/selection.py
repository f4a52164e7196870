"""Selects and validates the extensions that the configuration names, without creating them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from strongroom.builtin import (
    basic,
    bcrypt_hmac,
    console_sender,
    fixed_captcha,
    image_captcha,
    key_file,
    password,
    proof_of_work,
    pyfilesystem,
    recovery_code,
    smtp,
)
from strongroom.foundation.config import Configuration, Settings
from strongroom.foundation.config.accounts import FACTOR_AUDIENCES
from strongroom.foundation.config.describe import Section, core_sections
from strongroom.foundation.config.plugin_discovery import (
    installed_plugins,
    plugin_files,
    writable_by_others,
)
from strongroom.foundation.config.sources import READABLE_WANTED, suggestion
from strongroom.foundation.optional_parts import plugin_of_extension
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.plugin_api import Extension, NoOptions
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.factors import PasswordlessFactor, SecondFactor, Site
from strongroom.plugin_api.keys import KeyProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.password_schemes import PasswordScheme
from strongroom.plugin_api.scanning import ContentScanner
from strongroom.plugin_api.storage import StorageBackend, StorageWrapper

BUILTIN = (
    password,
    bcrypt_hmac,
    image_captcha,
    proof_of_work,
    fixed_captcha,
    smtp,
    console_sender,
    pyfilesystem,
    basic,
    recovery_code,
    key_file,
)

_NO_STORAGE = (
    "there is no storage: pip install strongroom-storage-local, or configure [storages.main] with the "
    "backend of another enabled plugin"
)

CHANNELS: Final[Mapping[str, str]] = {"email": "email", "mobile": "sms"}
"""The channel that reaches a kind of credential."""

_NO_INNER = "wraps another storage; name it"

ExtensionT = TypeVar("ExtensionT", bound=Extension[Any])


@dataclass(frozen=True, slots=True)
class ExtensionSpec(Generic[ExtensionT]):
    """An extension class with its validated options."""

    extension: type[ExtensionT]
    options: Any

    def create(self, *services: Any) -> ExtensionT:
        """Return a new instance."""
        return self.extension(self.options, *services)


@dataclass(frozen=True, slots=True)
class Selection:
    """The extensions that the configuration selects."""

    plugins: PluginManager
    storages: Mapping[str, ExtensionSpec[StorageBackend[Any]]]
    """By name; a wrapper follows the storage that it stores its objects in."""
    keys: ExtensionSpec[KeyProvider[Any]]
    login_methods: Sequence[ExtensionSpec[LoginMethod[Any]]]
    second_factors: Sequence[ExtensionSpec[SecondFactor[Any]]]
    captcha: ExtensionSpec[CaptchaProvider[Any]]
    page_captcha: ExtensionSpec[CaptchaProvider[Any]]
    """The provider of pages: ``captcha`` itself, or another one with its default options."""
    senders: Mapping[str, Sequence[ExtensionSpec[MessageSender[Any]]]]
    scanners: Sequence[ExtensionSpec[ContentScanner[Any]]]
    password_schemes: Mapping[str, ExtensionSpec[PasswordScheme]]
    """The schemes of all enabled plugins, because the database says which are in use."""
    options: Mapping[str, Any]
    """The options of each plugin that has any, by the name of the plugin."""

    def all_sections(self, settings: Settings) -> list[Section]:
        """Return the configuration sections of the core and of the selected extensions."""
        return [*core_sections(settings), *self.sections()]

    def sections(self) -> list[Section]:
        """Return the configuration sections of the selected extensions, with their values."""
        # A sender of two channels has one section.
        senders = {
            choice.extension.name: choice for choices in self.senders.values() for choice in choices
        }
        chosen: list[tuple[tuple[str, ...], ExtensionSpec[Any]]] = [
            *((("storages", name), choice) for name, choice in self.storages.items()),
            (("keys",), self.keys),
            *((("login", choice.extension.name), choice) for choice in self.login_methods),
            *((("second_factors", choice.extension.name), choice) for choice in self.second_factors),
            (("captcha",), self.captcha),
            *((("messages", name), choice) for name, choice in senders.items()),
            *((("scanning", choice.extension.name), choice) for choice in self.scanners),
        ]
        return [
            *(Section(path, choice.extension.options_type, choice.options) for path, choice in chosen),
            *(
                Section(("plugins", name), type(options), options)
                for name, options in self.options.items()
            ),
        ]


def offered_sections(plugins: PluginManager) -> list[Section]:
    """Return the configuration sections of all available extensions."""
    offered: list[tuple[tuple[str, ...], type[Extension[Any]], str | None]] = [
        *((("storages", name), kind, "backend") for name, kind in _storages(plugins).items()),
        *((("keys",), kind, "provider") for kind in plugins.key_providers.values()),
        *((("login", name), kind, None) for name, kind in plugins.login_methods.items()),
        *((("second_factors", name), kind, None) for name, kind in plugins.second_factors.items()),
        *((("captcha",), kind, "provider") for kind in plugins.captcha_providers.values()),
        *((("messages", name), kind, None) for name, kind in plugins.message_senders.items()),
        *((("scanning", name), kind, None) for name, kind in plugins.content_scanners.items()),
    ]
    sections = [
        Section(path, kind.options_type, chosen_by=(key, kind.name) if key else None)
        for path, kind, key in offered
    ]
    sections += [Section(("plugins", name), kind) for name, kind in plugins.options_types.items()]
    return [section for section in sections if fields(section.options_type)]


def _storages(plugins: PluginManager) -> dict[str, type[StorageBackend[Any]]]:
    return {**plugins.storage_backends, **plugins.storage_wrappers}


def select(configuration: Configuration) -> Selection:
    """Load the enabled plugins and select extensions, once per configuration.

    Raises:
        ConfigurationError: a plugin is incompatible, an extension is unknown, or an option is invalid.
    """
    # Processes that are forked from a server's master start with its selection.
    if not isinstance(configuration.selection, Selection):
        configuration.selection = _select(configuration)
    return configuration.selection


def _select(configuration: Configuration) -> Selection:
    settings, plugins = configuration.settings, load_plugins(configuration)
    chooser = _Chooser(configuration)
    captcha = chooser.captcha(plugins.captcha_providers)
    selection = Selection(
        plugins=plugins,
        storages=chooser.storages(_storages(plugins)),
        keys=chooser.keys(plugins.key_providers),
        login_methods=chooser.login_methods(plugins.login_methods),
        second_factors=chooser.second_factors(plugins.second_factors),
        captcha=captcha,
        page_captcha=chooser.page_captcha(captcha, plugins.captcha_providers),
        senders=chooser.senders(plugins.message_senders),
        scanners=chooser.scanners(plugins.content_scanners),
        password_schemes={
            name: ExtensionSpec(scheme, NoOptions()) for name, scheme in plugins.password_schemes.items()
        },
        options=chooser.plugin_options(plugins),
    )
    chooser.require_senders(selection)
    configuration.reject_unknown(
        {
            "storages": list(settings.storages),
            "login": list(plugins.login_methods),
            "second_factors": list(plugins.second_factors),
            "messages": list(plugins.message_senders),
            "captcha": [],
            "scanning": list(plugins.content_scanners),
            "keys": [],
        },
        disabled_plugin,
    )
    configuration.raise_if_invalid()
    return selection


def load_plugins(configuration: Configuration) -> PluginManager:
    """Load the enabled plugins.

    Raises:
        ConfigurationError: a plugin is incompatible, or the folder of one-file plugins cannot be read.
    """
    settings = configuration.settings.plugins
    try:
        _refuse_writable_files(configuration)
        return PluginManager(BUILTIN, settings.enabled, plugin_files(settings.folder))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        message = f"{settings.folder} {reason}; {READABLE_WANTED}"
        configuration.add_error(("plugins", "folder"), message)
        configuration.raise_if_invalid()
        raise
    except PluginError as error:
        add_plugin_error(configuration, error)
        configuration.raise_if_invalid()
        raise


def add_plugin_error(configuration: Configuration, error: PluginError | str) -> None:
    """Collect the fault of a plugin, at the key that enables it."""
    folder = configuration.settings.plugins.folder
    is_file = folder is not None and (
        f"{folder.absolute()}/" in str(error) or _is_plugin_file(folder, str(error))
    )
    configuration.add_error(("plugins", "folder" if is_file else "enabled"), str(error))


def _is_plugin_file(folder: Path, message: str) -> bool:
    """Return whether the plugin that a message names is a file of a folder."""
    named = re.match(r'(?:the schema of the )?plugin "([a-z0-9_]+)"', message)
    return named is not None and (folder / f"{named[1]}.py").is_file()


def _refuse_writable_files(configuration: Configuration) -> None:
    """Check that no other user can change one-file plugins, before one runs; not in development."""
    if configuration.settings.is_production:
        for path in writable_by_others(configuration.settings.plugins.folder):
            message = f"{path} can be changed by others; run: chmod o-w {path}"
            configuration.add_error(("plugins", "folder"), message)
        configuration.raise_if_invalid()


class _Chooser:
    """Selects extensions by name, and collects configuration errors."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._settings = configuration.settings

    def storages(
        self, offered: Mapping[str, type[StorageBackend[Any]]]
    ) -> dict[str, ExtensionSpec[StorageBackend[Any]]]:
        chosen = {}
        for name, storage in self._settings.storages.items():
            path = ("storages", name)
            # The default section needs a plugin that may be missing, so the error names both remedies.
            if storage.backend not in offered and not self._configuration.raw.states(path):
                self._configuration.add_error(path, _NO_STORAGE)
                self._configuration.consume(path)
            elif self._is_offered(storage.backend, offered, (*path, "backend"), "storage backend"):
                chosen[name] = self._choice(offered[storage.backend], path)
            else:
                # The options of an unknown backend cannot be checked, so do not report them as unknown.
                self._configuration.consume(path)
        target = self._settings.files.storage
        if target not in self._settings.storages:
            known = suggestion(target, list(self._settings.storages))
            self._configuration.add_error(
                ("files", "storage"), f"there is no [storages.{target}]; {known}"
            )
        return self._in_order(chosen)

    def _in_order(
        self, chosen: dict[str, ExtensionSpec[StorageBackend[Any]]]
    ) -> dict[str, ExtensionSpec[StorageBackend[Any]]]:
        """Return the storages in an order in which a wrapper follows the storage below it."""
        depths = {name: self._depth(name, choice.extension) for name, choice in chosen.items()}
        return {name: chosen[name] for name in sorted(chosen, key=lambda name: depths[name])}

    def _depth(self, name: str, extension: type[StorageBackend[Any]]) -> int:
        """Return the number of storages below a storage; report a fault of its key ``over``."""
        settings, over = self._settings.storages, self._settings.storages[name].over
        path = ("storages", name, "over")
        if issubclass(extension, StorageWrapper) != (over is not None):
            message = "does not wrap a storage; remove this key" if over else _NO_INNER
            self._configuration.add_error(path, f'"{extension.name}" {message}')
        below: list[str] = []
        while over is not None and over in settings and over not in below:
            below.append(over)
            over = settings[over].over
        if name in below:
            chain = " -> ".join([name, *below[: below.index(name) + 1]])
            self._configuration.add_error(path, f"leads back to this storage: {chain}")
        elif over is not None and not below:
            self._configuration.add_error(
                path, f"there is no [storages.{over}]; {suggestion(over, list(settings))}"
            )
        return len(below)

    def keys(self, offered: Mapping[str, type[KeyProvider[Any]]]) -> ExtensionSpec[KeyProvider[Any]]:
        name = self._settings.keys.provider
        if not self._is_offered(name, offered, ("keys", "provider"), "key provider"):
            # No provider, no options to validate: stop here.
            self._configuration.raise_if_invalid()
        return self._choice(offered[name], ("keys",))

    def login_methods(
        self, offered: Mapping[str, type[LoginMethod[Any]]]
    ) -> list[ExtensionSpec[LoginMethod[Any]]]:
        names = self._settings.login.methods
        if not self._configuration.raw.states(("login", "methods")):
            names = tuple(name for name in names if name in offered)
        return self._listed(("login", "methods"), names, offered, "login method")

    def require_senders(self, selection: Selection) -> None:
        """Check that codes can be sent to the recipients of each login method that is listed."""
        path = ("login", "methods")
        # The default has the methods that plugins offer, with or without senders.
        if not self._configuration.raw.states(path):
            return
        for choice in selection.login_methods:
            channels = sorted(CHANNELS[kind] for kind in choice.extension.code_recipients or ())
            if channels and not any(selection.senders[channel] for channel in channels):
                keys = " or ".join(f"messages.{channel}" for channel in channels)
                message = f'"{choice.extension.name}" needs a sender of codes; name one in {keys}'
                self._configuration.add_error(path, message)

    def second_factors(
        self, offered: Mapping[str, type[SecondFactor[Any]]]
    ) -> list[ExtensionSpec[SecondFactor[Any]]]:
        stated = self._settings.second_factors.methods
        names = tuple(offered) if stated is None else stated
        chosen = self._listed(("second_factors", "methods"), names, offered, "second factor")
        raw = self._configuration.raw
        if stated is None and not raw.states(("plugins", "enabled")):
            chosen = [choice for choice in chosen if self._fits(choice)]
        self._require_factors(chosen)
        return chosen

    def _fits(self, choice: ExtensionSpec[SecondFactor[Any]]) -> bool:
        """Return whether a factor that nothing but a default selects can be used on this server."""
        extension, options = choice.extension, choice.options
        is_stated = ("second_factors", extension.name) in self._configuration.extension_values
        if is_stated or not issubclass(extension, PasswordlessFactor):
            return True
        return extension.fits(options, Site(self._settings.public_root))

    def _require_factors(self, chosen: Sequence[ExtensionSpec[SecondFactor[Any]]]) -> None:
        """Check that users who must have a second factor can enrol one."""
        path, required = ("second_factors", "required_for"), self._settings.second_factors.required_for
        unknown = sorted(set(required) - set(FACTOR_AUDIENCES))
        for audience in unknown:
            self._configuration.add_error(
                path, f'"{audience}" is none of: {", ".join(FACTOR_AUDIENCES)}'
            )
        if required and not unknown and all(each.extension.is_backup for each in chosen):
            message = "needs a second factor that users can enrol; enable a plugin that provides one"
            self._configuration.add_error(path, message)

    def scanners(
        self, offered: Mapping[str, type[ContentScanner[Any]]]
    ) -> list[ExtensionSpec[ContentScanner[Any]]]:
        names = self._settings.scanning.scanners
        return self._listed(("scanning", "scanners"), names, offered, "content scanner")

    def captcha(
        self, offered: Mapping[str, type[CaptchaProvider[Any]]]
    ) -> ExtensionSpec[CaptchaProvider[Any]]:
        name = self._settings.captcha.provider
        if not self._is_offered(name, offered, ("captcha", "provider"), "captcha provider"):
            # No provider, no options to validate: stop here.
            self._configuration.raise_if_invalid()
        return self._choice(offered[name], ("captcha",))

    def page_captcha(
        self,
        other: ExtensionSpec[CaptchaProvider[Any]],
        offered: Mapping[str, type[CaptchaProvider[Any]]],
    ) -> ExtensionSpec[CaptchaProvider[Any]]:
        """Return the provider of pages.

        Args:
            other: the provider of the REST API, whose options are in the section.
        """
        name, path = self._settings.captcha.name_for_pages, ("captcha", "pages_provider")
        if name == other.extension.name or not self._is_offered(name, offered, path, "captcha provider"):
            return other
        try:
            return ExtensionSpec(offered[name], offered[name].options_type())
        except TypeError:
            message = f'"{name}" has keys without defaults; name it in captcha.provider, too'
            self._configuration.add_error(path, message)
            return other

    def senders(
        self, offered: Mapping[str, type[MessageSender[Any]]]
    ) -> dict[str, list[ExtensionSpec[MessageSender[Any]]]]:
        senders = {"email": self._settings.messages.email, "sms": self._settings.messages.sms}
        used = {name for names in senders.values() for name in names}
        configured = {path[1] for path in self._configuration.extension_values if path[0] == "messages"}
        choices = {
            name: self._choice(kind, ("messages", name))
            for name, kind in offered.items()
            if name in used | configured
        }
        return {
            channel: [choices[name] for name in names if self._serves(name, channel, offered)]
            for channel, names in senders.items()
        }

    def _listed(
        self,
        key: tuple[str, str],
        names: Sequence[str],
        offered: Mapping[str, type[ExtensionT]],
        kind: str,
    ) -> list[ExtensionSpec[ExtensionT]]:
        """Return the extensions that a key lists; their options are in sections next to it."""
        section = key[0]
        # An unused extension needs no section, but an existing section is validated.
        configured = {path[1] for path in self._configuration.extension_values if path[0] == section}
        choices = {
            name: self._choice(extension, (section, name))
            for name, extension in offered.items()
            if name in {*names, *configured}
        }
        return [choices[name] for name in names if self._is_offered(name, offered, key, kind)]

    def plugin_options(self, plugins: PluginManager) -> dict[str, Any]:
        for path in self._configuration.extension_values:
            if path[0] == "plugins" and path[1] not in plugins.options_types:
                self._configuration.consume(path)
                self._configuration.add_error(path, _fault_of_section(path[1], plugins))
        return {
            name: self._configuration.options(("plugins", name), options_type)
            for name, options_type in plugins.options_types.items()
        }

    def _serves(self, name: str, channel: str, offered: Mapping[str, type[MessageSender[Any]]]) -> bool:
        path = ("messages", channel)
        if not self._is_offered(name, offered, path, "message sender"):
            # The options of an unknown sender cannot be checked, so do not report them as unknown.
            self._configuration.consume(("messages", name))
            return False
        if channel not in offered[name].channels:
            serves = ", ".join(sorted(offered[name].channels))
            self._configuration.add_error(
                path, f'"{name}" does not serve {channel}; it serves: {serves}'
            )
            return False
        return True

    def _choice(self, extension: type[ExtensionT], path: tuple[str, ...]) -> ExtensionSpec[ExtensionT]:
        return ExtensionSpec(extension, self._configuration.options(path, extension.options_type))

    def _is_offered(
        self, name: str, offered: Mapping[str, Any], path: tuple[str, ...], kind: str
    ) -> bool:
        if name in offered:
            return True
        hint = disabled_plugin(name) or f"{suggestion(name, list(offered))}; see plugins.enabled"
        self._configuration.add_error(path, f'no enabled plugin offers a {kind} "{name}"; {hint}')
        return False


def disabled_plugin(extension: str) -> str | None:
    """Return how to enable the plugin of an extension, or ``None`` if no plugin is known to have it.

    The name of a plugin ends with its extension's, or optional_parts.toml names it.
    """
    installed = installed_plugins()
    plugin = next((name for name in installed if name.endswith(f"_{extension}")), None)
    plugin = plugin or plugin_of_extension(extension)
    if plugin is None:
        return None
    missing = "" if plugin in installed else f"pip install strongroom-{plugin.replace('_', '-')}, and "
    return f'{missing}add "{plugin}" to plugins.enabled'


def _fault_of_section(name: str, plugins: PluginManager) -> str:
    """Return why a plugin cannot have a section ``[plugins.NAME]``."""
    enabled = [plugin.name for plugin in plugins.plugins]
    if name in enabled:
        return f'the plugin "{name}" has no options; remove this section'
    if name in installed_plugins():
        return f'the plugin "{name}" is not enabled; add it to plugins.enabled'
    return f'there is no plugin "{name}"; {suggestion(name, list(plugins.options_types) or enabled)}'
