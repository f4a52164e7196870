"""Messages are in the recipient's language if it is known."""

import pytest
from tests.support.api import PASSWORD, Api, Person
from tests.support.config import Table

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
        (None, "The password of your account"),
        ("en-GB", "The password of your account"),
        ("zh", "您的账户密码"),
        ("zh-Hans-CN, en;q=0.5", "您的账户密码"),
        ("fr, zh;q=0.5, en;q=0.2", "您的账户密码"),
        ("zh;q=0.2, en", "The password of your account"),
        ("zh;q=0, fr", "The password of your account"),
        ("*", "The password of your account"),
        ("no language at all;;q=", "The password of your account"),
    ],
)
def test_a_notice_is_in_the_language_of_the_request_that_caused_it(
    api: Api, accepted: str | None, said: str
) -> None:
    change_password(api, api.person(), accepted)
    assert said_last(api).startswith(said)


class TestOfAChineseDeployment:
    """The configured language is the default of recipients whose language is unknown."""

    @pytest.fixture
    def config_changes(self) -> Table:
        return {"messages": {"language": "zh"}}

    def test_a_request_that_says_nothing_is_answered_in_it(self, api: Api) -> None:
        change_password(api, api.person(), None)
        assert said_last(api).startswith("您的账户密码")

    def test_a_request_that_says_otherwise_is_not(self, api: Api) -> None:
        change_password(api, api.person(), "en")
        assert said_last(api).startswith("The password of your account")

    def test_the_language_of_an_administrator_is_not_that_of_the_suspended(self, api: Api) -> None:
        admin, person = api.person(admin=True), api.person()
        headers = {"Accept-Language": "en"}
        api.post(f"/users/{person.id}/suspension", by=admin, headers=headers)
        assert "停用" in said_last(api)

    def test_codes_are_in_it_too(self, api: Api) -> None:
        api.code("a@example.com", "register")
        assert "验证码" in said_last(api)
