"""What a plugin's host offers besides logins: secrets, notices, and pages of records."""

import pytest
from tests.support.api import Api
from tests.support.config import SMS_LOGIN
from tests.support.outbox import messages_in

from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.web import ApiError


def test_a_sealed_text_is_for_one_plugin(api: Api) -> None:
    first, other = (api.container.hosts.get(name) for name in ("storage_local", "password"))
    sealed = first.secrets.seal("a secret")
    assert "secret" not in sealed
    assert first.secrets.unseal(sealed) == "a secret"
    with pytest.raises(ValueError, match="purpose"):
        other.secrets.unseal(sealed)


def test_a_notice_reaches_the_contacts_of_a_user(api: Api) -> None:
    person = api.person()
    api.container.hosts.get("storage_local").notify(person.id, "Costs $5", "Your $thing was disabled.")
    message = messages_in(api.container.settings.server.data_dir)[-1]
    assert message["recipient"] == person.email
    assert "Your $thing was disabled." in message["text"]


def test_a_page_of_records_is_an_envelope(api: Api) -> None:
    host = api.container.hosts.get("storage_local")
    with api.app.test_request_context("/api/v1/things?color=red"):
        query = {"pageNumber": 2, "pageSize": 2, "cursor": None}
        things = [{"id": str(number)} for number in range(5)]
        page = host.lists.collection(host.lists.page(things, query, lambda thing: (thing["id"],)), query)
    assert [thing["id"] for thing in page["data"]] == ["2", "3"]
    assert page["meta"]["pageCount"] == 3
    assert "color=red" in page["meta"]["nextPageLink"]


def test_a_list_that_is_read_by_number_refuses_a_cursor(api: Api) -> None:
    host = api.container.hosts.get("storage_local")
    query = {"pageNumber": 1, "pageSize": 2, "cursor": ""}
    with api.app.test_request_context("/api/v1/things"), pytest.raises(ApiError) as refusal:
        host.lists.collection(ResultPage([1], 1, 1, 2), query)
    assert [detail.field for detail in refusal.value.details] == ["cursor"]


class TestLoginOptions:
    """What pages offer is what the configuration enables."""

    def test_passwords_alone_need_no_codes(self, api: Api) -> None:
        offered = api.container.hosts.get("storage_local").logins.options
        assert offered.methods == ("password",)
        assert offered.login_codes == frozenset()
        assert offered.reset_codes == {"email", "mobile"}
        assert (offered.registration, offered.is_passwordless) == ("open", False)

    @pytest.mark.config(SMS_LOGIN, {"users": {"registration": "closed"}})
    def test_a_method_by_codes_names_its_recipients(self, api: Api) -> None:
        offered = api.container.hosts.get("storage_local").logins.options
        assert offered.methods == ("password", "sms")
        assert offered.login_codes == {"mobile"}
        assert offered.registration == "closed"

    @pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_passkey"]}})
    def test_a_passkey_logs_in_alone(self, api: Api) -> None:
        assert api.container.hosts.get("storage_local").logins.options.is_passwordless

    @pytest.mark.config({"messages": {"email": []}})
    def test_no_codes_are_offered_without_a_sender(self, api: Api) -> None:
        offered = api.container.hosts.get("storage_local").logins.options
        assert "email" not in offered.reset_codes | offered.register_codes
