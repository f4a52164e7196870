"""The plugin manager: its refusals and their messages."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from strongroom.builtin import password
from strongroom.builtin.recovery_code import RecoveryCode
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.plugin_api import NoOptions, hookimpl, option
from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider
from strongroom.plugin_api.events import ACTOR, AuditedEvent, EventField, EventType
from strongroom.plugin_api.forms import CaptchaWidget
from strongroom.plugin_api.messages import Message, MessageSender
from strongroom.plugin_api.web import ErrorKind


class Riddle(CaptchaProvider[NoOptions]):
    """A captcha for these tests."""

    name = "riddle"
    kind = "riddle"

    def issue(self) -> CaptchaChallenge:
        return CaptchaChallenge(payload={}, state="")

    def verify(self, state: str, answer: str) -> bool:
        return answer == "a candle"


class Telegram(MessageSender[NoOptions]):
    """A sender for these tests that names no channels."""

    name = "telegram"

    def send(self, message: Message) -> str | None:
        raise NotImplementedError


def plugin(api_version: Any = "2.0", **hooks: Any) -> ModuleType:
    """Return a plugin module whose hooks return these values."""
    module = ModuleType("some.plugin")
    if api_version is not None:
        module.API_VERSION = api_version  # type: ignore[attr-defined]
    for name, value in hooks.items():
        setattr(module, name, hookimpl(value if callable(value) else _returning(value)))
    return module


def _returning(value: Any) -> Any:
    def hook() -> Any:
        return value

    return hook


def refusal(*modules: ModuleType, enabled: tuple[str, ...] = ()) -> str:
    """Return why these plugins are refused."""
    with pytest.raises(PluginError) as error:
        PluginManager(modules, enabled)
    text = str(error.value)
    assert "\n" not in text
    return text


def test_what_plugins_offer_is_found_by_name() -> None:
    manager = PluginManager([password, plugin(register_captcha_providers=[Riddle])], [])
    assert dict(manager.captcha_providers) == {"riddle": Riddle}
    assert dict(manager.login_methods) == {"password": password.PasswordLogin}
    assert dict(manager.storage_backends) == {}


def test_a_misspelt_hook_is_refused_with_the_right_spelling() -> None:
    text = refusal(plugin(register_captcha_provider=[Riddle]))
    assert text == (
        'plugin "plugin" is invalid: there is no hook "register_captcha_provider"; '
        'did you mean "register_captcha_providers"?'
    )


def test_a_hook_that_wants_unknown_arguments_is_refused() -> None:
    def register_commands(application: object) -> list[object]:
        return [application]

    assert "is invalid" in refusal(plugin(register_commands=register_commands))


@pytest.mark.parametrize("stated", [None, 1.0, "1", "one", "1.0.0"])
def test_a_plugin_must_state_its_api_version(stated: object) -> None:
    assert refusal(plugin(stated)) == 'plugin "plugin" must state API_VERSION = "2.0"'


@pytest.mark.parametrize(
    ("stated", "remedy"),
    [
        (
            "1.2",
            (
                "install a newer version of the plugin; its author finds what to change by "
                '"strongroom plugins check", and if that lists nothing, sets API_VERSION = "2.0"'
            ),
        ),
        ("2.1", "upgrade strongroom"),
        ("3.0", "upgrade strongroom"),
    ],
)
def test_an_api_version_that_the_server_does_not_know_is_refused(stated: str, remedy: str) -> None:
    expected = f'plugin "plugin" was written for plugin API {stated}; this server has 2.0; {remedy}'
    assert refusal(plugin(stated)) == expected


def test_two_plugins_claiming_one_name_are_refused_by_name() -> None:
    first = plugin(register_captcha_providers=[Riddle])
    second = plugin(register_captcha_providers=[Riddle])
    second.__name__ = "some.other"
    assert refusal(first, second) == (
        'plugin "plugin" and plugin "other" both claim the name "riddle" in register_captcha_providers'
    )


def test_a_plugin_that_raises_is_named() -> None:
    def register_captcha_providers() -> list[object]:
        raise RuntimeError("no\nluck")

    text = refusal(plugin(register_captcha_providers=register_captcha_providers))
    assert text == 'plugin "plugin" failed in register_captcha_providers: RuntimeError: no luck'


def test_other_than_extensions_are_refused() -> None:
    text = refusal(plugin(register_captcha_providers=[str]))
    assert text.endswith("expected a subclass of CaptchaProvider")


def test_an_extension_that_lacks_a_method_is_refused() -> None:
    class Half(CaptchaProvider[NoOptions]):
        name = "half"
        kind = "half"

        def issue(self) -> CaptchaChallenge:
            return CaptchaChallenge(payload={}, state="")

    assert (
        refusal(plugin(register_captcha_providers=[Half]))
        == 'plugin "plugin": Half lacks the methods: verify'
    )


def test_an_extension_with_a_name_that_no_file_could_spell_is_refused() -> None:
    class Odd(Riddle):
        name = "Odd One"

    assert "must be lowercase letters" in refusal(plugin(register_captcha_providers=[Odd]))


@dataclass(frozen=True)
class BareOptions:
    """Options whose field is no key of a configuration."""

    limit: int = 5


@dataclass(frozen=True)
class ComplexOptions:
    """Options of a type that no configuration can hold."""

    limit: complex = option(5j, help="A limit.")


@pytest.mark.parametrize(
    ("attributes", "hook", "fault"),
    [
        ({"kind": None}, "register_captcha_providers", 'kind must be a string, such as "image"'),
        ({"kind": 7}, "register_captcha_providers", "kind must be a string"),
        ({"options_type": int}, "register_captcha_providers", "options_type must be a dataclass"),
        (
            {"options_type": BareOptions},
            "register_captcha_providers",
            "options_type: the field limit of BareOptions needs option()",
        ),
        (
            {"options_type": ComplexOptions},
            "register_captcha_providers",
            "options_type: ComplexOptions.limit has the type complex; use str, int, ",
        ),
        ({"widget": None}, "register_captcha_providers", "widget must be a CaptchaWidget, not None"),
        (
            {"widget": CaptchaWidget(label={"de": "Rätsel"})},
            "register_captcha_providers",
            'widget: label must have the language "en", not {',
        ),
        (
            {"widget": CaptchaWidget(policy={"img-src": "data:; script-src *"})},
            "register_captcha_providers",
            "widget: policy: 'img-src' must be a directive with sources, such as {",
        ),
        (
            {"widget": CaptchaWidget(policy={"img-src *; x": "data:"})},
            "register_captcha_providers",
            "widget: policy: 'img-src *; x' must be a directive with sources, such as {",
        ),
        (
            {"widget": CaptchaWidget(policy={"img-src": "{nonce.__class__}"})},
            "register_captcha_providers",
            "widget: policy: 'img-src' must be a directive with sources, such as {",
        ),
        ({}, "register_message_senders", "channels must be a set of channels, such as frozenset("),
        ({"channels": "sms"}, "register_message_senders", "channels must be a set of channels"),
        ({"channels": ()}, "register_message_senders", "channels must be a set of channels"),
    ],
)
def test_a_missing_or_wrong_class_attribute_is_refused_with_the_expected_one(
    attributes: dict[str, Any], hook: str, fault: str
) -> None:
    base = Riddle if hook == "register_captcha_providers" else Telegram
    extension = type("Faulty", (base,), attributes)
    line = refusal(plugin(**{hook: [extension]}))
    assert line.startswith(f'plugin "plugin": Faulty.{fault}')


def test_a_plugin_that_is_not_installed_is_refused_with_the_command_to_install_it() -> None:
    assert refusal(enabled=("storage_tape",)).startswith(
        'plugin "storage_tape" is not installed; pip install strongroom-storage-tape, or '
    )


def test_a_plugin_enabled_twice_is_refused() -> None:
    line = refusal(enabled=("storage_local", "storage_local"))
    assert line == 'plugin "storage_local" is enabled twice; list it once'


def test_the_errors_of_plugins_are_found_by_code() -> None:
    kind = ErrorKind(400, "error.riddle-unknown", "There is no such riddle.")
    assert PluginManager([plugin(register_errors=[kind])], []).errors == {kind.code: kind}


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        ("error.riddle-unknown", "expected an ErrorKind"),
        (ErrorKind(200, "error.riddle-unknown", "No."), "a status of 400 to 599"),
        (ErrorKind(400, "riddle unknown", "No."), 'a code like "error.riddle-unknown"'),
        (ErrorKind(404, "error.not-found", "No."), "which is taken"),
    ],
)
def test_an_error_that_does_not_fit_is_refused(item: object, complaint: str) -> None:
    assert complaint in refusal(plugin(register_errors=[item]))


def test_two_plugins_claiming_one_error_code_are_refused() -> None:
    kind = ErrorKind(400, "error.riddle-unknown", "There is no such riddle.")
    first, second = plugin(register_errors=[kind]), plugin(register_errors=[kind])
    second.__name__ = "some.other"
    assert refusal(first, second) == (
        'plugin "other" claims the error code "error.riddle-unknown", which is taken'
    )


def solved(name: str, *fields: EventField, of_tenant: bool = False) -> AuditedEvent:
    return AuditedEvent("solve", EventType(name, "Solved.", fields, is_of_tenant_stream=of_tenant))


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        (["riddle.solved"], "expected an AuditedEvent"),
        ([solved("solved", ACTOR)], "must be two words"),
        ([solved("riddle.solved")], "with the field ACTOR"),
        ([solved("riddle.solved", ACTOR, of_tenant=True)], "of the stream of the server"),
        ([solved("riddle.solved", ACTOR)] * 2, "is taken"),
    ],
)
def test_a_type_of_events_that_does_not_fit_is_refused(items: list[object], complaint: str) -> None:
    assert complaint in refusal(plugin(register_event_types=items))


def test_the_types_of_events_of_plugins_are_found_by_action() -> None:
    item = solved("riddle.solved", ACTOR)
    manager = PluginManager([plugin(register_event_types=[item])], [])
    assert manager.event_types == {"plugin.solve": item.type}


def test_the_alarms_of_a_factor_have_the_types_of_its_plugin() -> None:
    item = solved("riddle.solved", ACTOR)
    manager = PluginManager(
        [plugin(register_event_types=[item], register_second_factors=[RecoveryCode])], []
    )
    assert manager.event_types["recovery_code.solve"] == item.type
