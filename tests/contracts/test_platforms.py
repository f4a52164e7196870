"""Each installed platform that people log in at takes part in the contract about contacts."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.platform_contacts import NEVER

from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom_login_oauth.testing import PROVEN, TRUSTED, ContactsContract
from strongroom_login_oauth.testing.contacts import STATES
from strongroom_login_oidc.method import OIDCLogin
from strongroom_login_oidc.presets import PRESETS
from strongroom_login_sso.method import SsoLogin

PLUGINS: Final = Path(__file__).parents[2] / "plugins"


def platforms() -> Iterator[tuple[str, str]]:
    """Yield the plugin and the name of each platform; one of OpenID Connect has those of its presets."""
    for plugin, (entry_point,) in installed_plugins().items():
        register = getattr(entry_point.load(), "register_login_methods", list)
        for method in register():
            if method is OIDCLogin:
                yield from ((plugin, name) for name in ("openid", *PRESETS))
            elif method is SsoLogin:
                # Its contacts always count, and only in domains that the tenant has proven.
                continue
            # Other methods accept codes that the server itself has sent to a contact.
            elif not method.code_recipients:
                yield plugin, method.name


def runs_contract(plugin: str) -> bool:
    """Return whether a test class of a plugin derives from the contract."""
    modules = (ast.parse(path.read_text()) for path in (PLUGINS / plugin / "tests").rglob("test_*.py"))
    classes = (node for module in modules for node in module.body if isinstance(node, ast.ClassDef))
    bases = {base.id for item in classes for base in item.bases if isinstance(base, ast.Name)}
    return ContactsContract.__name__ in bases


def test_each_platform_says_which_states_its_contacts_never_have() -> None:
    names = [name for _, name in platforms()]
    assert sorted(NEVER) == sorted(names)
    for name, reasons in NEVER.items():
        assert reasons.keys() <= set(STATES), name
        # The operator can trust only a contact that the platform has proven.
        assert (TRUSTED in reasons) is (PROVEN in reasons), name


def test_each_plugin_of_a_platform_runs_the_contract_about_contacts() -> None:
    plugins = {plugin for plugin, _ in platforms()}
    assert {"login_dingtalk", "login_oidc", "login_wechat"} <= plugins
    assert [plugin for plugin in sorted(plugins) if not runs_contract(plugin)] == []
