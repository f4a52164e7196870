"""The e-mail with a registration code to an address of a user says that there is an account."""

import pytest
from tests.support.api import Answer, Api, Json
from tests.support.config import lifted
from tests.support.databases import on_sqlite
from tests.support.statements import statements

KNOWN, UNKNOWN = "known@example.com", "other@example.com"
SENTENCES = {
    "en": "You already have an account with this address. Log in to it",
    "zh": "您已用此邮箱地址注册过账号。请直接登录",
}

pytestmark = [on_sqlite, pytest.mark.config(lifted())]


@pytest.fixture(autouse=True)
def known(api: Api) -> None:
    api.person(email=KNOWN, mobile="+8613800138000")


def request(api: Api, recipient: str, language: str = "en", purpose: str = "register") -> Answer:
    return api.request_code(recipient, purpose, headers={"Accept-Language": language})


def mail(api: Api) -> Json:
    message: Json = api.outbox()[-1]
    return message


@pytest.mark.parametrize("language", SENTENCES)
def test_the_mail_says_so_next_to_the_code(api: Api, language: str) -> None:
    request(api, KNOWN, language)
    message = mail(api)
    assert message["code"] in message["text"]
    assert SENTENCES[language] in message["text"]


@pytest.mark.parametrize(
    ("recipient", "purpose"),
    [(UNKNOWN, "register"), (KNOWN, "reset-password"), (KNOWN, "bind"), ("13800138000", "register")],
)
def test_no_other_message_says_so(api: Api, recipient: str, purpose: str) -> None:
    request(api, recipient, purpose=purpose)
    message = mail(api)
    assert message["code"] in message["text"]
    assert "already" not in message["text"]


def test_the_response_and_the_statements_are_those_of_an_unknown_address(api: Api) -> None:
    seen = []
    for recipient in (KNOWN, UNKNOWN):
        captcha = api.captcha()
        body = {"recipient": recipient, "purpose": "register", "captcha": captcha}
        with statements() as executed:
            answer = api.post("/verification-codes", body)
        seen.append((answer.status_code, set(answer.json), [*executed]))
    assert seen[0] == seen[1]
    assert seen[0][2]


def test_the_code_is_valid(api: Api) -> None:
    code = {"id": request(api, KNOWN).json["id"], "code": mail(api)["code"]}
    body = {"name": "A", "email": KNOWN, "password": "Correct1Horse", "verificationCodes": [code]}
    refused = api.post("/users", body)
    # A wrong code is another error; this one is the first that says so in a response, to the owner.
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "error.credential-taken")
