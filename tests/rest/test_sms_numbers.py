"""SMS go to mobile numbers of the configured regions only."""

import pytest
from tests.support.api import Api

from strongroom.activity.notifications.service import MessageService

REFUSED = {
    "premium rate": "+19005551234",
    "toll-free": "8008101234",
    "international toll-free": "+80012345678",
    "shared cost": "4001234567",
    "landline": "010-12345678",
    "satellite": "+881612345678",
    "satellite of mainland China": "17400001234",
    "former satellite of mainland China": "13490001234",
    "service": "+8695588",
    "another region": "+12025550123",
    "Taiwan with its code": "+886912345680",
}


def outcomes(api: Api) -> list[tuple[str, str]]:
    """Return the field and the code of each refused number, with the number of sent messages."""
    found = []
    for number in REFUSED.values():
        answer = api.request_code(number, "register", environ_overrides={"REMOTE_ADDR": "192.0.2.7"})
        api.clock.advance(60 * 60 * 1000)
        details = answer.json["error"]["details"] if answer.status_code == 400 else []
        found.append(
            ("", str(answer.status_code)) if not details else (details[0]["field"], details[0]["code"])
        )
    return found


def test_codes_go_to_mobile_numbers_of_the_default_region_only(api: Api) -> None:
    assert outcomes(api) == [("recipient", "not-reachable")] * len(REFUSED)
    assert api.outbox() == []
    assert api.request_code("\u202a+86 138 0013 8000\u202c", "register").status_code == 201
    assert [each["recipient"] for each in api.outbox()] == ["+8613800138000"]
    # A national number of another region is none of the default region.
    answer = api.request_code("0912345680", "register")
    (detail,) = answer.json["error"]["details"]
    assert (answer.status_code, detail["field"], detail["code"]) == (400, "recipient", "invalid")
    assert "country code" in detail["message"]
    chinese = api.request_code("+886912345680", "register", headers={"Accept-Language": "zh"})
    assert "CN" in chinese.json["error"]["details"][0]["message"]
    assert "手机" in chinese.json["error"]["details"][0]["message"]


def test_invitations_and_notices_follow_the_same_rule(api: Api) -> None:
    admin = api.person(admin=True)
    tenant = api.tenant(admin)
    answer = api.post(f"{tenant}/invitations", {"mobile": "+12025550123"}, by=admin)
    (detail,) = answer.json["error"]["details"]
    assert (answer.status_code, detail["field"], detail["code"]) == (400, "mobile", "not-reachable")
    sent = len(api.outbox())
    path = f"/users/{api.person().id}/contacts/mobile"
    assert api.put(path, {"value": "+12025550123"}, by=admin).status_code == 200
    recipients = {each["recipient"] for each in api.outbox()[sent:]}
    assert recipients
    assert "+12025550123" not in recipients
    assert api.container.get(MessageService).unsent() == [("sms", "refused", 1)]


@pytest.mark.config({"login": {"sms_regions": ["TW", "GB", "US"]}})
def test_the_regions_can_be_chosen(api: Api) -> None:
    for number in ("+886912345680", "+447400123456", "+12025550123"):
        assert api.request_code(number, "register").status_code == 201, number
        api.clock.advance(60 * 60 * 1000)
    assert api.request_code("13800138000", "register").status_code == 400
    assert len(api.outbox()) == 3
