"""The options: which relying parties browsers accept."""

from typing import Any

import pytest

from strongroom_login_passkey.options import PasskeyOptions, RelyingParty


@pytest.mark.parametrize(
    ("public_url", "rp_id", "expected"),
    [
        ("https://files.example.com", "", "files.example.com"),
        ("https://files.example.com", "example.com", "example.com"),
        ("https://files.example.com:8443", "", "files.example.com"),
        ("http://localhost:8080", "", "localhost"),
        ("http://files.localhost:8080", "", "files.localhost"),
    ],
)
def test_the_domain_is_the_host_or_a_parent(public_url: str, rp_id: str, expected: str) -> None:
    assert RelyingParty.of(PasskeyOptions(rp_id=rp_id), public_url).id == expected


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "192.0.2.7"])
def test_an_address_is_no_domain(host: str) -> None:
    with pytest.raises(ValueError, match=r"IP address .*; set server\.public_url to https://DOMAIN"):
        RelyingParty.of(PasskeyOptions(), f"https://{host}")


def test_passkeys_need_tls() -> None:
    with pytest.raises(ValueError, match="no passkeys on http://files"):
        RelyingParty.of(PasskeyOptions(), "http://files.example.com")


@pytest.mark.parametrize("rp_id", ["example.net", "ample.com", "com", "www.files.example.com", "x"])
def test_other_domains_are_refused(rp_id: str) -> None:
    with pytest.raises(ValueError, match=r"rp_id must be files\.example\.com"):
        RelyingParty.of(PasskeyOptions(rp_id=rp_id), "https://files.example.com")


@pytest.mark.parametrize(
    ("public_url", "origin"),
    [
        ("https://Files.Example.com:443", "https://files.example.com"),
        ("https://files.example.com:8443", "https://files.example.com:8443"),
        ("http://localhost:80", "http://localhost"),
    ],
)
def test_an_origin_is_as_browsers_write_it(public_url: str, origin: str) -> None:
    options = PasskeyOptions(origins=("https://example.net", origin))
    assert RelyingParty.of(options, public_url).origins == tuple(
        dict.fromkeys((origin, "https://example.net"))
    )


@pytest.mark.parametrize("text", ["example.net", "https://example.net/", ""])
def test_origins_are_origins(text: str) -> None:
    with pytest.raises(ValueError, match=r"^origins: must be origins such as"):
        PasskeyOptions(origins=(text,))


@pytest.mark.parametrize("key", ["enroll_url", "manage_url", "change_password_url"])
def test_pages_have_absolute_addresses(key: str) -> None:
    pages: dict[str, Any] = {key: "javascript:alert(1)"}
    with pytest.raises(ValueError, match=f"^{key}: must be an absolute URL"):
        PasskeyOptions(**pages)
