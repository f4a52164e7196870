"""Redirects to clients."""

from collections.abc import Mapping
from urllib.parse import urlencode


def add_parameters(uri: str, parameters: Mapping[str, str]) -> str:
    """Return a redirect URI with parameters; its own query stays as it is, character by character."""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(parameters)}"
