"""The templates of all pages and mails, which a deployment may replace."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from strongroom.foundation.config import Configuration
from strongroom.foundation.plugins.plugin import Plugin
from strongroom.web.pages.template_copies import SERVER, TemplateCopies, html_files

BUILTIN_PACKAGE: Final = "strongroom.builtin"

_SERVER_FOLDERS: Final = (
    (SERVER, "strongroom.web.pages", "templates"),
    (SERVER, "strongroom.extensions.first_start", "templates"),
    (SERVER, BUILTIN_PACKAGE, "templates"),
    ("mails", "strongroom.activity.notifications", "mails"),
)


def template_copies(configuration: Configuration, plugins: Iterable[Plugin]) -> TemplateCopies | None:
    """Return the copies of a deployment; ``None`` without a folder for them."""
    folder = configuration.settings.pages.templates
    return None if folder is None else TemplateCopies(folder, originals(plugins))


def require_known_templates(configuration: Configuration, plugins: Iterable[Plugin]) -> None:
    """Refuse copies of templates that do not exist, and those that cannot be parsed.

    Raises:
        ConfigurationError: there is one.
    """
    copies = template_copies(configuration, plugins)
    for fault in copies.faults() if copies else ():
        configuration.add_error(("pages", "templates"), fault)
    configuration.raise_if_invalid()


def originals(plugins: Iterable[Plugin]) -> Mapping[str, Traversable]:
    """Return the templates by names such as ``strongroom/page.html``."""
    folders = [*_SERVER_FOLDERS, *_template_folders(plugins)]
    return {
        f"{owner}/{name}": template
        for owner, package, folder in folders
        for name, template in html_files(files(package) / folder)
    }


def _template_folders(plugins: Iterable[Plugin]) -> Iterator[tuple[str, str, str]]:
    for plugin in plugins:
        package = plugin.module.__package__
        # A plugin of one file has no templates, and built-in ones share the server's.
        if plugin.file is None and package and package != BUILTIN_PACKAGE:
            yield plugin.name, package, "templates"


def template_folder(plugin: Plugin) -> str:
    """Return the folder of a plugin's templates among those that a deployment replaces."""
    return SERVER if plugin.module.__package__ == BUILTIN_PACKAGE else plugin.name
