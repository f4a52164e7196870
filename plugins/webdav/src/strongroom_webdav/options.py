"""Configuration options."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class WebdavOptions:
    """The keys of the section ``[plugins.webdav]``."""

    hide_junk: bool = option(
        True,
        help="Whether .DS_Store, ._*, Thumbs.db and desktop.ini are hidden, and not stored.",
    )
    max_lock_seconds: int = option(
        3600,
        minimum=60,
        maximum=7 * 24 * 3600,
        help="The longest time, in seconds, for which a program locks a file without renewing the lock.",
    )
