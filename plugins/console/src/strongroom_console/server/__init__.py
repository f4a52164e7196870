"""The pages of the server, for its administrators: users, tenants, and the state of the server."""

from typing import Final

from flask import Blueprint

from strongroom_console.server.audit import audit
from strongroom_console.server.health import health
from strongroom_console.server.imports import imports
from strongroom_console.server.logins import logins
from strongroom_console.server.new_user import new_user
from strongroom_console.server.overview import overview
from strongroom_console.server.quarantine import quarantine
from strongroom_console.server.service_accounts import service_accounts
from strongroom_console.server.spaces import spaces
from strongroom_console.server.state import state
from strongroom_console.server.storages import storages
from strongroom_console.server.user_account import user_account
from strongroom_console.server.user_activity import user_activity
from strongroom_console.server.user_changes import user_changes
from strongroom_console.server.user_list import user_list
from strongroom_console.server.user_logins import user_logins
from strongroom_console.server.user_metadata import user_metadata
from strongroom_console.server.user_spaces import user_spaces

AREAS: Final[tuple[Blueprint, ...]] = (
    overview,
    user_list,
    user_changes,
    new_user,
    user_account,
    user_logins,
    user_spaces,
    user_activity,
    user_metadata,
    health,
    storages,
    state,
    imports,
    spaces,
    service_accounts,
    logins,
    audit,
    quarantine,
)
