"""The table of all pages of the product, by the area that they belong to."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.browser_pages import Screen
from tests.support.screens.account import ACCOUNT
from tests.support.screens.brand import BRAND
from tests.support.screens.captchas import CAPTCHAS, captcha_stage
from tests.support.screens.clients import CLIENTS, client_stage
from tests.support.screens.console import CONSOLE, WITHOUT_TRASH
from tests.support.screens.console_stage import console_stage, stage_without_trash
from tests.support.screens.core import CORE, SET_UP
from tests.support.screens.directories import DIRECTORIES, directory_stage
from tests.support.screens.names import NAMED, named_stage
from tests.support.screens.providers import PROVIDERS, provider_stage
from tests.support.screens.registration import REGISTRATION
from tests.support.screens.shares import SHARES
from tests.support.screens.sign_in import SIGN_IN
from tests.support.screens.single_sign_on import SINGLE_SIGN_ON, sso_stage
from tests.support.screens.stage import Stage, branded_stage, full_stage
from tests.support.screens.wechat import WECHAT

NAMES: Final = re.compile(
    r"Strongroom|[\w.+•-]+@[\w.-]+|https?://\S*|Alice|Acme|Laptop|Reports|Drafts|\S+\.(txt|pdf|png)"
    r"|URL|CSV|NDJSON"
    # Points in time are the same in all languages, and all are in UTC.
    r"|[\d-]{10} [\d:]{5} UTC"
    # The question of the captcha for tests.
    r"|What is the configured answer\?"
)
"""Text that is the same in all languages: names, addresses and files."""


@dataclass(frozen=True)
class Area:
    """Screens of one server.

    Args:
        stage: runs the server, whose files are in a folder.
        is_fresh: whether each walk needs a server of its own.
    """

    screens: tuple[Screen, ...]
    stage: Callable[[Path], AbstractContextManager[Stage]] = full_stage
    is_fresh: bool = False


AREAS: Final = {
    "core": Area(CORE),
    "sign-in": Area(SIGN_IN),
    "registration": Area(REGISTRATION),
    "captchas": Area(CAPTCHAS, captcha_stage),
    "account": Area(ACCOUNT),
    "shares": Area(SHARES),
    "clients": Area(CLIENTS, client_stage),
    "directories": Area(DIRECTORIES, directory_stage),
    # A scan registers people, and its page has no form for the terms.
    "wechat": Area(WECHAT, branded_stage),
    "providers": Area(PROVIDERS, provider_stage),
    "single-sign-on": Area(SINGLE_SIGN_ON, sso_stage),
    "names": Area(NAMED, named_stage),
    "brand": Area(BRAND, branded_stage),
    "console": Area(CONSOLE, console_stage),
    "without-trash": Area(WITHOUT_TRASH, stage_without_trash),
    "set-up": Area(SET_UP, is_fresh=True),
}
