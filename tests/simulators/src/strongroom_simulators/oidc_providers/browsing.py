"""A browser at the page of a provider, for tests."""

import re
from html import unescape
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

import requests

_FIELD = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')


def agree(url: str, person: str) -> dict[str, str]:
    """Agree as a person; return the parameters that the provider sends back, also those of a form.

    Args:
        url: the URL of the authorization request.
        person: the id of the person.

    Raises:
        ValueError: the provider does not send the browser back.
    """
    return _decide(url, decision="confirm", person=person)


def refuse(url: str) -> dict[str, str]:
    """Refuse the login; as :func:`agree`."""
    return _decide(url, decision="deny")


def _decide(url: str, **form: str) -> dict[str, str]:
    response = requests.post(url, data=form, allow_redirects=False, timeout=30)
    if response.status_code == HTTPStatus.FOUND:
        return dict(parse_qsl(urlsplit(response.headers["Location"]).query))
    fields = _FIELD.findall(response.text)
    if response.status_code != HTTPStatus.OK or not fields:
        raise ValueError(f"status {response.status_code}: {response.text}")
    return {unescape(name): unescape(value) for name, value in fields}
