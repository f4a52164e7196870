"""Rows about the modules of a distribution: short paths of modules and tests."""

from collections.abc import Callable
from typing import Final

from tests.mutants.mutant import ROOT, Mutant

Row = Callable[..., Mutant]


def rows_of(folder: str) -> Row:
    """Return a function that makes the rows about the modules below a folder of packages.

    The place of a row is ``nodes/access.py::NodeAccess.require``, or the path of a module alone.
    """

    def row(name: str, guard: str, place: str, old: str, new: str, *tests: str) -> Mutant:
        module, _, function = place.partition("::")
        return Mutant(name, guard, f"{folder}/{module}", function, old, new, tuple(map(path_of, tests)))

    return row


def path_of(test: str) -> str:
    """Return the path of ``rest/test_x.py``, or ``webhooks/rest/test_x.py`` of a plugin.

    The path of a client's test, which begins with ``clients/``, is complete.
    """
    top, _, rest = test.partition("/")
    if top == "clients":
        return test
    return f"plugins/{top}/tests/{rest}" if (ROOT / "plugins" / top).is_dir() else f"tests/{test}"


def plugin(name: str) -> Row:
    """Return a function that makes the rows about a plugin."""
    return rows_of(f"plugins/{name}/src/strongroom_{name}")


core: Final = rows_of("core/src/strongroom")
client: Final = rows_of("clients/python/src/strongroom_client")
console: Final = plugin("console")
clamd: Final = plugin("scan_clamd")
login_pages: Final = plugin("login_pages")
passkey: Final = plugin("login_passkey")
openid: Final = plugin("login_oidc")
sso: Final = plugin("login_sso")
password_schemes: Final = plugin("password_schemes")
shares: Final = plugin("share_links")
storage_fsspec: Final = plugin("storage_fsspec")
storage_local: Final = plugin("storage_local")
storage_oss: Final = plugin("storage_oss")
storage_s3: Final = plugin("storage_s3")
oidc_provider: Final = plugin("oidc_provider")
webhooks: Final = plugin("webhooks")
wechat: Final = plugin("login_wechat")
oauth: Final = plugin("login_oauth")
agents: Final = plugin("mcp")
webdav: Final = plugin("webdav")
dingtalk: Final = plugin("login_dingtalk")
wecom: Final = plugin("login_wecom")
