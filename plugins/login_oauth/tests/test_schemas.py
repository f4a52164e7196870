"""Bodies of requests: what they return to is checked in addition to its length."""

import pytest
from marshmallow import ValidationError

from strongroom_login_oauth.options import OAuthOptions
from strongroom_login_oauth.schemas import _returns

OPTIONS = OAuthOptions(
    return_origins=("https://app.example.org",),
    app_redirects=("org.example:/in", "http://127.0.0.1/in", "http://[::1]/in"),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("returnTo", "/files"),
        ("returnTo", "https://app.example.org/in"),
        ("appRedirect", "org.example:/in"),
        ("appRedirect", "http://127.0.0.1:49152/in"),
        ("appRedirect", "http://[::1]:49152/in"),
    ],
)
def test_a_configured_return_is_accepted(name: str, value: str) -> None:
    assert _returns(OPTIONS)[name].deserialize(value) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("returnTo", ""),
        ("returnTo", "https://evil.example/in"),
        ("returnTo", "/" + "a" * 1024),
        ("appRedirect", "org.evil:/in"),
        ("appRedirect", "http://127.0.0.1:49152/out"),
        ("appRedirect", "http://127.0.0.1:49152@evil.example/in"),
        ("appRedirect", "http://localhost:49152/in"),
    ],
)
def test_any_other_is_refused(name: str, value: str) -> None:
    with pytest.raises(ValidationError):
        _returns(OPTIONS)[name].deserialize(value)
