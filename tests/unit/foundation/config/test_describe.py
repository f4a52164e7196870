"""Showing a configuration, and the template of one."""

import json
import re
import tomllib
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from click.testing import CliRunner

from strongroom.cli.main import root
from strongroom.foundation.config import load
from strongroom.foundation.config.describe import (
    SecretMask,
    Section,
    core_sections,
    show,
    template,
    template_sections,
    values,
)
from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.config.settings import Settings
from strongroom.foundation.config.sources import RawConfiguration
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.selection import BUILTIN, offered_sections, select
from strongroom.plugin_api import option
from strongroom.plugin_api.extension import SECRET_ENDINGS

MAX_KEYS = 116


def uncommented(lines: list[str]) -> str:
    return "\n".join(line.removeprefix("#") for line in lines if not line.startswith("# "))


def printed(*options: str) -> list[str]:
    """Return the lines of `config template` with the default plugins."""
    return CliRunner().invoke(root, ["config", "template", *options]).stdout.splitlines()


def keys_in(lines: list[str]) -> list[str]:
    return [line for line in lines if re.match(r"#\w+ = ", line)]


def test_the_template_of_the_default_plugins_shows_at_most_116_keys() -> None:
    assert 0 < len(keys_in(printed())) <= MAX_KEYS


@pytest.mark.parametrize("options", [(), ("--all",)])
def test_a_printed_template_is_a_configuration_with_the_defaults(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("\n".join(printed(*options)))
    configuration = load(path, {})
    assert configuration.settings == load(None, {}).settings
    select(configuration)


def test_a_printed_template_declares_each_table_once() -> None:
    """Also when all its lines are uncommented."""
    tomllib.loads(uncommented(printed("--all")))


def test_the_template_names_what_it_omits_and_all_has_it() -> None:
    omitted = {*keys_in(printed("--all"))} - {*keys_in(printed())}
    assert {"#hash_queue = 64", '#wrong_keys_per_address = ["600/hour"]'} <= omitted
    assert "config template --all" in printed()[1]
    sections = [*template_sections(), *offered_sections(select(load(None, {})).plugins)]
    everything = keys_in(list(template(sections)))
    assert keys_in(printed("--all")) == everything


def test_tables_with_the_same_keys_are_one_table_of_the_template() -> None:
    lines = printed()
    at = lines.index("#[business_files.NAME]")
    assert lines[at + 1] == "# NAME: photos, figures, covers, avatars; their defaults may differ."
    assert not any(line.startswith("[business_files.photos") for line in lines)


def test_the_template_is_toml_and_holds_every_key_at_its_default() -> None:
    lines = list(template(core_sections()))
    assert tomllib.loads("\n".join(lines))["server"] == {}
    settings = load(None, {}).settings
    parsed = tomllib.loads(uncommented(lines))
    assert parsed["server"]["port"] == settings.server.port
    assert parsed["limits"]["code_per_device"] == ["1/minute"]
    assert set(parsed) | {"storages"} == {section.path[0] for section in core_sections()} | {"storages"}


def test_the_template_is_accepted_as_a_configuration(tmp_path: Path) -> None:
    lines = [line.removeprefix("#") for line in template(core_sections()) if not line.startswith("# ")]
    options = [section.options_type for section in core_sections()]
    # TOML has no null: these keys have a default only by being absent.
    absent = {item.name for kind in options for item in fields(kind) if item.default is None}
    path = tmp_path / "strongroom.toml"
    path.write_text("\n".join(line for line in lines if line.partition(" =")[0] not in absent))
    assert load(path, {}).settings.server == load(None, {}).settings.server


def test_show_names_the_source_of_a_value_and_hides_secrets(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("[server]\nport = 1\nsecret_key = 'hush'")
    configuration = load(path, {"STRONGROOM__SERVER__WORKERS": "3"})
    lines = list(show(core_sections(configuration.settings), configuration.raw, with_origin=True))
    assert f"server.port = 1  # {path}:2" in lines
    assert "server.workers = 3  # environment STRONGROOM__SERVER__WORKERS" in lines
    assert 'server.host = "127.0.0.1"  # default' in lines
    assert not any("hush" in line for line in lines)


@dataclass(frozen=True)
class Provider:
    client_id: str = option(help="The id.")
    client_secret: str = option(secret=True, help="The secret.")


@dataclass(frozen=True)
class Providers:
    providers: dict[str, Provider] = option(default_factory=dict, help="The providers.")
    headers: dict[str, str] = option(default_factory=dict, secret=True, help="The headers.")
    url: str = option("", secret=True, help="The URL.")


OPTIONS = Providers(
    {"acme": Provider("me", "hush-1")}, {"Authorization": "hush-2"}, "redis://u:hush-3@example.com"
)


def test_a_value_of_a_table_has_the_origin_of_its_variable_and_a_computed_default_none() -> None:
    configuration = load(None, {"STRONGROOM__PAGES__NAMES__ZH": "保险库"})
    shown = {
        item.path: item for item in values(core_sections(configuration.settings), configuration.raw)
    }
    names = shown["pages", "names"]
    assert (names.is_changed, names.origin) == (True, "environment STRONGROOM__PAGES__NAMES__ZH")
    pixels = shown["business_files", "avatars", "max_pixels"]
    assert (pixels.is_changed, pixels.origin) == (False, "default")


def test_show_hides_secrets_within_tables() -> None:
    section = Section(("login", "acme"), Providers, OPTIONS)
    lines = list(show([section], RawConfiguration(), with_origin=False))
    assert lines[0] == 'login.acme.providers = {acme = {client_id = "me", client_secret = "..."}}'
    assert "hush" not in "".join(lines)


def test_secrets_are_masked_in_other_texts() -> None:
    mask = SecretMask([Section(("login", "acme"), Providers, OPTIONS)])
    assert mask.hide("hush-1, hush-2 and hush-3") == "..., ... and ..."
    assert mask.hide("cannot reach redis://u:hush-3@example.com") == "cannot reach ..."


KEY = "-----BEGIN KEY-----\nMIGHAgEAMBMGByqGSM49\nAgEGCCqGSM49AwEHBG0w\n-----END KEY-----\n"
QUOTED = 'it\'s "a" p\u00e4ss/w\u00f6rd'


@pytest.mark.parametrize("secret", [KEY, QUOTED], ids=["key", "quoted"])
@pytest.mark.parametrize(
    "spell",
    [
        repr,
        ascii,
        json.dumps,
        partial(json.dumps, ensure_ascii=False),
        quote,
        quote_plus,
        partial(quote, safe=""),
        lambda secret: " | ".join(secret.splitlines()),
    ],
    ids=["repr", "ascii", "json", "json-unescaped", "path", "form", "component", "lines"],
)
def test_secrets_are_masked_in_other_spellings(secret: str, spell: Callable[[str], str]) -> None:
    mask = SecretMask([Section(("plugins", "acme"), Undeclared, Undeclared(api_token=secret))])
    parts = {"MIGHAgEA", "AgEGCCqG", "it", "w\u00f6rd", "rd", "%22a"}
    hidden = mask.hide(f"refused {spell(secret)}: bad")
    assert hidden.startswith("refused ")
    assert not [part for part in parts if part in hidden]


def test_the_password_of_a_url_is_masked_as_drivers_decode_it() -> None:
    options = Undeclared(api_token="redis://u:s%2Fcret%40one@host")
    mask = SecretMask([Section(("plugins", "acme"), Undeclared, options)])
    assert mask.hide("the server refused 's/cret@one'") == "the server refused '...'"


@dataclass(frozen=True, slots=True)
class Undeclared:
    api_token: str = option("hush-4", help="The token.")
    public_key: str = option("seen", secret=False, help="The public key.")
    colour: str = option("red", help="The colour.")


def test_a_key_is_secret_by_its_name_unless_its_declaration_says_otherwise() -> None:
    section = Section(("plugins", "acme"), Undeclared, Undeclared())
    assert [
        line.partition(" = ")[2] for line in show([section], RawConfiguration(), with_origin=False)
    ] == [
        '"..."',
        '"seen"',
        '"red"',
    ]
    assert repr(Undeclared()) == "Undeclared(public_key='seen', colour='red')"
    assert SecretMask([section]).hide("hush-4 seen") == "... seen"


def declared_keys(kind: type[Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, bool]]:
    """Yield the path of each key, also within tables of tables, and whether it is secret."""
    for item in fields(kind):
        yield ".".join((*path, item.name)), item.metadata["secret"]
        hint = typing.get_type_hints(kind)[item.name]
        for part in (hint, *typing.get_args(hint)):
            if is_dataclass(part) and isinstance(part, type) and part is not Rate:
                yield from declared_keys(part, (*path, item.name))


def test_the_keys_of_all_plugins_that_are_named_like_secrets_are_known() -> None:
    """A new key here is either secret, or not confidential: then its value may be in public."""
    plugins = PluginManager(BUILTIN, tuple(installed_plugins()))
    sections = [*offered_sections(plugins), Section((), Settings)]
    named = {
        ".".join((*section.path, key)): secret
        for section in sections
        for key, secret in declared_keys(section.options_type)
        if key.endswith(SECRET_ENDINGS)
    }
    assert len(named) > len(SECRET_ENDINGS)
    assert {key for key, secret in named.items() if not secret} == {
        "login.alipay.apps.alipay_public_key",
        "plugins.share_links.password",
    }
