"""Redirect URIs are compared character by character; nothing is normalized."""

import pytest

from strongroom_oidc_provider.clients.redirect_uris import find_fault, find_registered

WEB = "https://app.example.com/callback"
LOOPBACK = "http://127.0.0.1/callback"
IPV6 = "http://[::1]/callback"
PRIVATE = "com.example.app:/callback"
REGISTERED = (WEB, "https://app.example.com/cb?tenant=1", LOOPBACK, IPV6, PRIVATE)

_PARTS = (
    *(
        f"{WEB}{end}"
        for end in ("/", "//", "?", "?a=b", "#", "#a", "%20", " ", "\t", "\n", "\r\n", ";", ".")
    ),
    *(
        f"{WEB}{end}"
        for end in ("/..", "/../", "/../callback", "/..;/", "/%2e%2e/", "/./", "/.", "..;/")
    ),
    *(
        f"{WEB}{end}"
        for end in ("/..%2fcallback", "%00", "\0", "\\", "/\\", "%2f", "@evil.test", "&a=b")
    ),
    *(
        f"{begin}{WEB}"
        for begin in (" ", "\t", "\n", "\\", "//", "view-source:", "blob:", "javascript:")
    ),
    *(
        f"{scheme}://app.example.com/callback"
        for scheme in ("http", "HTTPS", "Https", "ftp", "ws", "wss", "httpss", "file", "data")
    ),
    *(
        f"https://{host}/callback"
        for host in (
            "APP.example.com",
            "app.example.com.",
            "app.example.com:443",
            "app.example.com:8443",
            "app.example.com:",
            "app.example.com:0443",
            "app.example.com@evil.test",
            "evil.test@app.example.com",
            "user:pass@app.example.com",
            ":@app.example.com",
            "@app.example.com",
            "evil.test",
            "app.example.com.evil.test",
            "app.example.comevil.test",
            "evilapp.example.com",
            "sub.app.example.com",
            "example.com",
            "*.example.com",
            "app%2eexample.com",
            "app.example.com%2eevil.test",
            "app.example.com%00.evil.test",
            "app.example.com%09",
            "app.example.com\\.evil.test",
            "app.example.com\\@evil.test",
            "evil.test\\@app.example.com",
            "evil.test#@app.example.com",
            "evil.test?@app.example.com",
            "evil.test/@app.example.com",
            "app\u3002example\u3002com",
            "app.example.c\u00f6m",
            "\u24d0pp.example.com",
            "app.ex\u0430mple.com",
            "xn--pp-8ia.example.com",
            "127.0.0.1",
            "[::1]",
            "localhost",
            "2130706433",
            "0x7f000001",
            "",
        )
    ),
    *(
        f"https://app.example.com{path}"
        for path in (
            "",
            "/",
            "/Callback",
            "/CALLBACK",
            "/callbac",
            "/callback2",
            "/callback/callback",
            "//callback",
            "///callback",
            "/./callback",
            "/../callback",
            "/a/../callback",
            "/a/..;/callback",
            "/..;/callback",
            "/;/callback",
            "/;a=b/callback",
            "/callback;a=b",
            "/callback;.css",
            "/%63allback",
            "/c%61llback",
            "/%2fcallback",
            "/%2e/callback",
            "/%2e%2e/callback",
            "/%252e%252e/callback",
            "/a/%2e%2e/callback",
            "/a/%2E%2E/callback",
            "/a/.%2e/callback",
            "/a/%2e./callback",
            "/a/..%2fcallback",
            "/a/..%5ccallback",
            "\\callback",
            "/\\callback",
            "/callback\u200b",
            "/callback\u00a0",
            "/callback\ufeff",
            "/callb\u0430ck",
            "/callback?",
            "/callback?tenant=1",
            "/callback?code=1",
            "/callback??",
            "/callback#",
            "/callback#code=1",
            "/callback%23",
            "/callback%3f",
            "/callback+",
            "/callback*",
            "/*",
            "/cb",
            "/cb?",
            "/cb?tenant=2",
            "/cb?tenant=1&",
            "/cb?tenant=1&tenant=2",
            "/cb?Tenant=1",
            "/cb?tenant=%31",
            "/cb?%74enant=1",
            "/cb?a=1&tenant=1",
            "/cb?tenant=1#",
            "/cb/?tenant=1",
            "/cb;?tenant=1",
        )
    ),
    *(
        f"http://{host}/callback"
        for host in (
            "127.0.0.1:",
            "127.0.0.1:123456",
            "127.0.0.1:-1",
            "127.0.0.1:80a",
            "127.0.0.1:%38%30",
            "127.0.0.1:80@evil.test",
            "127.0.0.1:80:80",
            "127.0.0.1.evil.test",
            "127.0.0.1.nip.io",
            "127.0.0.2",
            "127.1",
            "127.0.1",
            "0127.0.0.1",
            "127.0.0.01",
            "0x7f.0.0.1",
            "0x7f000001",
            "2130706433",
            "0",
            "0.0.0.0",
            "localhost",
            "localhost:8080",
            "localhost.evil.test",
            "a@127.0.0.1",
            "127.0.0.1@evil.test",
            "127.0.0.1#@evil.test",
            "127.0.0.1\\@evil.test",
            "127.0.0.1%00",
            "[::1",
            "::1",
            "[::1]:",
            "[::1]:123456",
            "[::1].evil.test",
            "[::]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::1%25lo]",
            "[::1]@evil.test",
            "evil.test",
        )
    ),
    *(
        f"http://127.0.0.1:8080{path}"
        for path in (
            "",
            "/",
            "/Callback",
            "/callback/",
            "/callback?a",
            "/callback#",
            "/../callback",
            "//callback",
        )
    ),
    *("https://127.0.0.1:8080/callback", "https://127.0.0.1/callback", "http:127.0.0.1/callback"),
    *(
        "http:/127.0.0.1/callback",
        "http:\\\\127.0.0.1/callback",
        "//127.0.0.1/callback",
        "HTTP://127.0.0.1/callback",
    ),
    *("com.example.app:callback", "com.example.app://callback", "com.example.app:///callback"),
    *("com.example.app:/callback/", "com.example.app:/Callback", "Com.example.app:/callback"),
    *(
        "com.example.app2:/callback",
        "com.example:/callback",
        "com.example.app:/callback?a",
        "com.example.app:",
    ),
    *(
        "javascript:alert(1)",
        "data:text/html,x",
        "about:blank",
        "vbscript:x",
        "/callback",
        "callback",
        "",
        "*",
        ".",
    ),
)
VARIANTS = tuple(dict.fromkeys(_PARTS))


def test_there_are_at_least_200_variants() -> None:
    assert len(VARIANTS) >= 200
    assert not {*VARIANTS} & {*REGISTERED}


@pytest.mark.parametrize("is_public", [True, False])
def test_no_variant_counts_as_a_registered_uri(is_public: bool) -> None:
    for variant in VARIANTS:
        assert find_registered(variant, REGISTERED, is_public=is_public) is None, variant


@pytest.mark.parametrize("uri", REGISTERED)
def test_the_registered_uri_itself_counts(uri: str) -> None:
    assert find_registered(uri, REGISTERED, is_public=False) == uri


@pytest.mark.parametrize("port", [1, 80, 8080, 65535])
def test_the_port_of_a_loopback_uri_is_free_for_public_clients(port: int) -> None:
    for uri, registered in (
        (f"http://127.0.0.1:{port}/callback", LOOPBACK),
        (f"http://[::1]:{port}/callback", IPV6),
    ):
        assert find_registered(uri, REGISTERED, is_public=True) == registered
        assert find_registered(uri, REGISTERED, is_public=False) is None


@pytest.mark.parametrize(
    "uri",
    [
        WEB,
        "https://app.example.com",
        "https://app.example.com:8443/a/b?tenant=1",
        "https://[2001:db8::1]/callback",
        LOOPBACK,
        "http://127.0.0.1:8080/callback",
        "http://localhost:3000/callback",
        IPV6,
    ],
)
def test_https_and_loopback_uris_are_acceptable(uri: str) -> None:
    assert find_fault(uri, is_public=False) is None
    assert find_fault(uri, is_public=True) is None


def test_a_private_use_scheme_is_for_public_clients() -> None:
    assert find_fault(PRIVATE, is_public=True) is None
    assert find_fault(PRIVATE, is_public=False) == "Only a public client may have a private-use scheme."


@pytest.mark.parametrize(
    "uri",
    [
        "http://app.example.com/callback",
        "https://app.example.com/callback#fragment",
        "https://*.example.com/callback",
        "https://app.example.com/*",
        "https://user@app.example.com/callback",
        "https://app.example.com/../callback",
        "https://app.example.com/a/..;/callback",
        "https://app.example.com/%2e%2e/callback",
        "https://app.example.com/a b",
        "https://app.example.com\\@evil.test/",
        "https:///callback",
        "javascript:alert(1)",
        "data:text/html,x",
        "myapp:/callback",
        "//app.example.com/callback",
        "/callback",
        "",
        f"https://app.example.com/{'a' * 512}",
        "https://app.example.com/callb\u0430ck",
        "https://app.example.com/callback\n",
    ],
)
def test_other_uris_are_not(uri: str) -> None:
    assert find_fault(uri, is_public=True) is not None
