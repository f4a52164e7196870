"""Names of domains."""

import pytest

from strongroom_login_sso.names import get_domain, normalize_domain


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("acme.example", "acme.example"),
        ("ACME.Example.", "acme.example"),
        (" mail.acme.example ", "mail.acme.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("公司.cn", "xn--55qx5d.cn"),
        ("\uff41cme.example", "acme.example"),
    ],
)
def test_a_domain_has_one_spelling(text: str, domain: str) -> None:
    assert normalize_domain(text) == domain


@pytest.mark.parametrize(
    "text",
    [
        "", "example", "localhost", "a.localhost", "printer.local", "x.internal", "10.0.0.1", "a..b",
        "-a.example", "a b.example", "a_b.example", "user@acme.example", "https://acme.example",
        "acme.example/path", "a.example\0", "x" * 64 + ".example", ".".join(["abcdefgh"] * 32),
        "*.acme.example", "1.0.0.127.in-addr.arpa", "a.onion",
    ],
)  # fmt: skip
def test_no_other_text_is_a_domain(text: str) -> None:
    assert normalize_domain(text) is None


@pytest.mark.parametrize(
    ("address", "domain"),
    [
        ("ann@acme.example", "acme.example"),
        ("Ann@ACME.EXAMPLE", "acme.example"),
        ("a@b@acme.example", "acme.example"),
        ("ann@bücher.example", "xn--bcher-kva.example"),
        ("acme.example", None),
        ("@acme.example", None),
        ("ann@", None),
    ],
)
def test_the_domain_of_an_address(address: str, domain: str | None) -> None:
    assert get_domain(address) == domain
