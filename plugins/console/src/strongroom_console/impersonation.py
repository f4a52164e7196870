"""The end of an impersonation, whose session may send no other form."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from flask import redirect

from strongroom.plugin_api.host import HostAPI
from strongroom_console.visit import PREFIX


def end_impersonation(host: HostAPI) -> Any:
    """End the impersonation, and lead the administrator back to the users."""
    host.browser.end_impersonation()
    base_path = urlsplit(host.public_url).path.rstrip("/")
    return redirect(f"{base_path}{PREFIX}/server/users/", HTTPStatus.SEE_OTHER)
