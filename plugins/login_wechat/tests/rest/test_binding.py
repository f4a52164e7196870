"""Binding rule 5.4: a WeChat id is verified with the platform, and is bound to one account."""

from functools import partial

import pytest
from tests.support.api import Api, error_code
from tests.support.config import Table
from tests.support.http import at_once
from tests.support.wechat import Browser, Logins, WeChat

PATH = "/api/v1/users/me/wechatIds"


@pytest.fixture
def config_changes(platform: WeChat) -> Table:
    return platform.config("https://127.0.0.1")


class TestBinding:
    @pytest.mark.parametrize("app", ["site", "mini"])
    @pytest.mark.rule("4.2 POST /api/v1/users/{userId}/wechatIds", "5 binding 4")
    def test_after_binding_the_user_logs_in_by_it(self, app: str, api: Api, logins: Logins) -> None:
        person = api.person()
        response = logins.bind(person, "lin", app)
        assert response.status_code == 201
        assert response.json.keys() == {"kind", "value", "verified", "createdAt"}
        assert response.json["kind"] == "wechat"
        assert logins.log_in("lin", app).json["user"]["id"] == person.id
        assert ("email", person.email) in logins.held(person)

    @pytest.mark.rule("5 binding 4")
    def test_an_id_of_another_account_is_409_and_stays_there(self, api: Api, logins: Logins) -> None:
        holder, other = api.person(), api.person()
        logins.bind(holder, "lin", "mini")
        response = logins.bind(other, "lin", "mini")
        assert (response.status_code, error_code(response)) == (409, "error.credential-taken")
        assert logins.log_in("lin", "mini").json["user"]["id"] == holder.id
        assert {kind for kind, _ in logins.held(other)} == {"email"}

    def test_a_unionid_of_another_account_is_409_in_any_app(
        self, api: Api, logins: Logins, platform: WeChat
    ) -> None:
        platform.join_account("site", "mini")
        holder, other = api.person(), api.person()
        logins.bind(holder, "lin", "mini")
        response = logins.bind(other, "lin", "site")
        assert (response.status_code, error_code(response)) == (409, "error.credential-taken")

    def test_of_users_binding_one_id_at_once_one_succeeds(self, api: Api, logins: Logins) -> None:
        people = [api.person() for _ in range(6)]
        proofs = [logins.proof(person) for person in people]
        responses = at_once(
            [
                partial(logins.bind, person, "lin", "mini", proof)
                for person, proof in zip(people, proofs, strict=True)
            ]
        )
        assert sorted(response.status_code for response in responses) == [201, *[409] * 5]

    def test_an_id_bound_while_its_person_logs_in_is_on_one_account(
        self, api: Api, logins: Logins
    ) -> None:
        person = api.person()
        binding = partial(logins.bind, person, "lin", "mini", logins.proof(person))
        acts = [binding, partial(logins.log_in, "lin", "mini")]
        bound, logged_in = at_once(acts)
        same = logged_in.json["user"]["id"] == person.id
        assert (bound.status_code, same) in [(201, True), (409, False)]

    def test_binding_again_is_no_error(self, api: Api, logins: Logins) -> None:
        person = api.person()
        for _ in range(2):
            assert logins.bind(person, "lin", "mini").status_code == 201
        assert len(logins.held(person)) == 2

    def test_binding_another_account_of_wechat_replaces_the_one_of_before(
        self, api: Api, logins: Logins, platform: WeChat
    ) -> None:
        platform.join_account("site", "mini")
        person = api.person()
        logins.bind(person, "lin", "mini")
        logins.bind(person, "lin", "site")
        # By another app: the unionid belongs to another person.
        assert logins.bind(person, "wei", "site").status_code == 201
        assert logins.log_in("wei", "mini").json["user"]["id"] == person.id
        for app in ("mini", "site"):
            assert logins.log_in("lin", app).json["user"]["id"] != person.id

    def test_without_a_unionid_another_app_is_added(self, api: Api, logins: Logins) -> None:
        person = api.person()
        for app in ("site", "shop", "mini"):
            logins.bind(person, "lin", app)
        assert [kind for kind, _ in logins.held(person)].count("wechat") == 3

    def test_users_cannot_bind_for_another(self, api: Api, logins: Logins, platform: WeChat) -> None:
        person, admin = api.person(), api.person(admin=True)
        code = platform.code("mini", "lin")
        body = {"code": code, **logins.proof(person)}
        path = f"/api/v1/users/{person.id}/wechatIds"
        for other in (admin, api.person()):
            response = api.post(path, body, by=other)
            assert (response.status_code, error_code(response)) == (403, "error.forbidden")
        # Nor was the code spent.
        assert api.post(path, body, by=person).status_code == 201

    def test_the_user_is_notified(self, api: Api, logins: Logins) -> None:
        person = api.person()
        logins.bind(person, "lin", "mini")
        assert person.email in {message["recipient"] for message in api.outbox()}

    def test_it_takes_a_token(self, api: Api) -> None:
        assert error_code(api.post(PATH, {"code": "x"})) == "error.token-required"
        assert error_code(api.delete(PATH)) == "error.token-required"
        response = api.post("/api/v1/wechat-qr-codes", {"app": "site", "purpose": "bind"})
        assert (response.status_code, error_code(response)) == (401, "error.token-required")


class TestBindingState:
    def test_a_state_of_another_user_is_refused(
        self, api: Api, logins: Logins, platform: WeChat
    ) -> None:
        victim, thief = api.person(), api.person()
        browser = Browser(api)
        body = {"state": browser.bind_state(thief), "code": platform.code("site", "lin")}
        response = browser.post(PATH, body, victim)
        assert (response.status_code, error_code(response)) == (400, "error.state-invalid")
        assert browser.post(PATH, {**body, **logins.proof(thief)}, thief).status_code == 201

    def test_a_state_of_another_browser_is_refused(self, api: Api, platform: WeChat) -> None:
        person = api.person()
        body = {"state": Browser(api).bind_state(person), "code": platform.code("site", "lin")}
        response = Browser(api).post(PATH, body, person)
        assert (response.status_code, error_code(response)) == (400, "error.state-invalid")

    def test_a_website_requires_it(self, api: Api, platform: WeChat) -> None:
        body = {"app": "site", "code": platform.code("site", "lin")}
        response = api.post(PATH, body, by=api.person())
        assert (response.status_code, error_code(response)) == (400, "error.wechat-app-unknown")

    @pytest.mark.rule("5 binding 4")
    def test_a_code_that_proves_nothing_binds_nothing(self, api: Api, logins: Logins) -> None:
        person = api.person()
        response = api.post(PATH, {"code": "made-up", **logins.proof(person)}, by=person)
        assert (response.status_code, error_code(response)) == (401, "error.wechat-code-invalid")
        assert len(logins.held(person)) == 1


class TestUnbinding:
    def test_takes_every_app_at_once(self, api: Api, logins: Logins, platform: WeChat) -> None:
        platform.join_account("site", "mini")
        person = api.person()
        for app in ("site", "mini"):
            logins.bind(person, "lin", app)
        assert logins.unbind(person, person.email).json == {"success": True}
        assert {kind for kind, _ in logins.held(person)} == {"email"}
        assert logins.log_in("lin", "mini").json["user"]["id"] != person.id

    def test_lets_another_account_bind_it(self, api: Api, logins: Logins) -> None:
        first, second = api.person(), api.person()
        logins.bind(first, "lin", "mini")
        logins.unbind(first, first.email)
        assert logins.bind(second, "lin", "mini").status_code == 201

    def test_the_last_credential_cannot_be_removed(self, api: Api, logins: Logins) -> None:
        person = logins.person(logins.open_mini_program("lin"))
        response = api.delete(PATH, by=person)
        assert (response.status_code, error_code(response)) == (409, "error.last-contact")
        assert logins.open_mini_program("lin").json["user"]["id"] == person.id

    def test_takes_a_code(self, api: Api, logins: Logins) -> None:
        person = api.person()
        logins.bind(person, "lin", "mini")
        other = api.code(api.person().email, "unbind")
        for headers in ({}, {"X-Verification-Code": f"{other['id']}.{other['code']}"}):
            response = api.delete(PATH, by=person, headers=headers)
            assert (response.status_code, error_code(response)) == (400, "error.code-invalid")

    def test_an_unbound_credential_is_404(self, api: Api) -> None:
        response = api.delete(PATH, by=api.person())
        assert (response.status_code, error_code(response)) == (404, "error.not-found")

    def test_users_cannot_unbind_for_another(self, api: Api, logins: Logins) -> None:
        person = api.person()
        logins.bind(person, "lin", "mini")
        path = f"/api/v1/users/{person.id}/wechatIds"
        assert api.delete(path, by=api.person(admin=True)).status_code == 403

    def test_during_a_login_leads_to_this_user_or_a_new_one(self, api: Api, logins: Logins) -> None:
        person = api.person()
        logins.bind(person, "lin", "mini")
        code = api.code(person.email, "unbind")
        headers = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
        acts = [
            partial(api.delete, PATH, by=person, headers=headers),
            partial(logins.log_in, "lin", "mini"),
        ]
        unbound, logged_in = at_once(acts)
        assert (unbound.status_code, logged_in.status_code) == (200, 200)
        again = logins.log_in("lin", "mini").json["user"]["id"]
        assert again != person.id
        assert logged_in.json["user"]["id"] in (person.id, again)
