"""Messages are in the recipient's language if it is known."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from tests.support.api import PASSWORD, Api, Person
from tests.support.scene import Scene

from strongroom.assembly.container import Container
from strongroom.cli.access_keys import access_keys_group
from strongroom.cli.context import CommandContext

NEW = "Another1Horse"


def said_last(api: Api) -> str:
    """Return the text of the last message."""
    return str(api.outbox()[-1]["text"])


def change_password(api: Api, person: Person, accepted: str | None) -> None:
    headers = {} if accepted is None else {"Accept-Language": accepted}
    body = {"oldPassword": PASSWORD, "newPassword": NEW}
    assert api.put("/users/me/password", body, by=person, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("accepted", "said"),
    [
        (None, "Your password was changed."),
        ("en-GB", "Your password was changed."),
        ("zh", "您的密码已更改。"),
        ("zh-Hans-CN, en;q=0.5", "您的密码已更改。"),
        ("fr, zh;q=0.5, en;q=0.2", "您的密码已更改。"),
        ("zh;q=0.2, en", "Your password was changed."),
        ("zh;q=0, fr", "Your password was changed."),
        ("*", "Your password was changed."),
        ("no language at all;;q=", "Your password was changed."),
    ],
)
def test_a_notice_is_in_the_language_of_the_request_that_caused_it(
    api: Api, accepted: str | None, said: str
) -> None:
    change_password(api, api.person(), accepted)
    assert said_last(api).startswith(said)


class ApiContext(CommandContext):
    """The context of a command on the services of an application."""

    def __init__(self, api: Api) -> None:
        super().__init__(None)
        self._api = api

    @contextmanager
    def container(self, *, any_secret: bool = False) -> Iterator[Container]:
        yield self._api.container


@pytest.mark.config({"messages": {"language": "zh"}})
class TestOfAChineseDeployment:
    """The configured language is the default of recipients whose language is unknown."""

    def test_a_request_that_says_nothing_is_answered_in_it(self, api: Api) -> None:
        change_password(api, api.person(), None)
        assert said_last(api).startswith("您的密码已更改。")

    def test_a_request_that_says_otherwise_is_not(self, api: Api) -> None:
        change_password(api, api.person(), "en")
        assert said_last(api).startswith("Your password was changed.")

    def test_the_language_of_an_administrator_is_not_that_of_the_suspended(self, api: Api) -> None:
        admin, person = api.person(admin=True), api.person()
        headers = {"Accept-Language": "en"}
        api.post(f"/users/{person.id}/suspension", by=admin, headers=headers)
        assert "停用" in said_last(api)

    def test_codes_are_in_it_too(self, api: Api) -> None:
        api.code("a@example.com", "register")
        assert "验证码" in said_last(api)


@pytest.mark.config({"plugins": {"enabled": ["storage_local", "webhooks"]}})
class TestOfErrors:
    """The messages of errors are in the client's language; their codes never change."""

    @pytest.mark.parametrize(
        ("accepted", "locale", "message"),
        [
            (None, "en", "The resource does not exist."),
            ("zh", "zh", "资源不存在。"),
            ("zh-CN", "zh", "资源不存在。"),
            ("zh-Hans-CN, en;q=0.5", "zh", "资源不存在。"),
            ("en;q=0.2, zh-Hans;q=0.3", "zh", "资源不存在。"),
            ("zh;q=0.2, en-GB", "en", "The resource does not exist."),
            ("zh;q=0, fr", "en", "The resource does not exist."),
            ("fr", "en", "The resource does not exist."),
            ("*", "en", "The resource does not exist."),
        ],
    )
    def test_a_message_is_in_the_preferred_language(
        self, api: Api, accepted: str | None, locale: str, message: str
    ) -> None:
        headers = {} if accepted is None else {"Accept-Language": accepted}
        answer = api.get("/nothing", headers=headers)
        assert answer.status_code == 404
        error = answer.json["error"]
        assert (error["code"], error["message"]) == ("error.not-found", message)
        assert answer.headers["Content-Language"] == locale
        assert answer.headers["Vary"] == "Accept, Accept-Language"

    def test_messages_of_fields_are_in_it_too(self, api: Api) -> None:
        body = {"recipient": 1, "purpose": "sleep", "more": 2}
        answer = api.post("/verification-codes", body, headers={"Accept-Language": "zh"})
        assert answer.json["error"]["message"] == "请求中的部分字段无效。"
        details = {item["field"]: item["message"] for item in answer.json["error"]["details"]}
        assert details["recipient"] == "不是有效的字符串。"
        assert details["purpose"].startswith("必须是以下之一：")
        assert details["more"] == "未知字段。"

    def test_rules_of_passwords_are_in_it_too(self, api: Api) -> None:
        body = {"oldPassword": PASSWORD, "newPassword": "å"}
        headers = {"Accept-Language": "zh"}
        answer = api.put("/users/me/password", body, by=api.person(), headers=headers)
        messages = [item["message"] for item in answer.json["error"]["details"]]
        assert messages == ["至少需要 8 个字符。", "需要一个大写字母。", "需要一个数字。"]

    def test_items_of_a_batch_are_in_it_too(self, api: Api) -> None:
        scene = Scene(api)
        item = {"operation": "trash", "fileId": "01a1fd54-4eef-7228-9b8e-aef8f5276267"}
        body = {"atomic": False, "items": [item]}
        headers = {"Accept-Language": "zh"}
        answer = api.post(f"{scene.path}/files-batches", body, by=scene.admin, headers=headers)
        assert answer.json["results"][0]["error"]["message"] == "资源不存在。"

    def test_the_texts_of_a_plugin_are_in_the_plugin(self, api: Api) -> None:
        body, headers = {"url": "https://example.org", "eventTypes": ["*"]}, {"Accept-Language": "zh"}
        answer = api.post("/api/v1/webhook-endpoints", body, by=api.person(), headers=headers)
        assert answer.json["error"]["message"] == "只有管理员可以管理 Webhook。"

    def test_without_the_header_the_locale_of_the_user_decides(self, api: Api) -> None:
        person = api.person()
        assert api.patch("/users/me", {"locale": "zh-Hans"}, by=person).status_code == 200
        chosen = api.get("/api/v1/tenants/unknown", by=person)
        accepted = api.get("/api/v1/tenants/unknown", by=person, headers={"Accept-Language": "en"})
        others = api.get("/api/v1/tenants/unknown", by=api.person())
        assert [answer.headers["Content-Language"] for answer in (chosen, accepted, others)] == [
            "zh",
            "en",
            "en",
        ]
        assert chosen.json["error"]["message"] == "您没有执行此操作的权限，请联系管理员。"


class TestOfARecipientWithALocale:
    """The language that the recipient has chosen precedes that of the request."""

    @pytest.fixture
    def person(self, api: Api) -> Person:
        person = api.person()
        assert api.patch("/users/me", {"locale": "zh-CN"}, by=person).status_code == 200
        return person

    def test_a_notice_is_in_it(self, api: Api, person: Person) -> None:
        change_password(api, person, "en")
        assert said_last(api).startswith("您的密码已更改。")

    def test_a_code_is_in_it(self, api: Api, person: Person) -> None:
        answer = api.request_code(person.email, "reset-password", headers={"Accept-Language": "en"})
        assert answer.status_code == 201
        assert said_last(api).startswith("请输入以下验证码")

    def test_a_suspension_is_in_it(self, api: Api, person: Person) -> None:
        api.post(f"/users/{person.id}/suspension", by=api.person(admin=True))
        assert said_last(api).startswith("您的账号已被管理员停用。\n\n时间：")

    def test_an_invitation_is_in_it(self, api: Api, person: Person) -> None:
        scene, headers = Scene(api), {"Accept-Language": "en"}
        body = {"email": person.email}
        answer = api.post(f"{scene.path}/invitations", body, by=scene.admin, headers=headers)
        assert answer.status_code == 201, answer.text
        assert said_last(api).startswith("您收到一份 Strongroom 空间的邀请。")

    def test_a_notice_of_a_plugin_is_in_it(self, api: Api, person: Person) -> None:
        host = api.container.hosts.get("storage_local")
        host.notify(person.id, "Your account was suspended", "The server is shutting down.")
        assert said_last(api).startswith("服务器正在关闭。\n\n时间：")


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "资源不存在。"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "The resource does not exist."),
        ({"LANG": "", "LC_MESSAGES": "zh"}, "资源不存在。"),
        ({}, "The resource does not exist."),
    ],
)
def test_a_command_is_refused_in_the_language_of_the_environment(
    api: Api, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], message: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    arguments = ["create", "--user", "unknown", "--name", "backup", "--scope", "files:read"]
    run = CliRunner(env=environment).invoke(access_keys_group, arguments, obj=ApiContext(api))
    assert (run.exit_code, run.output) == (1, f"Error: {message}\n")
