"""What each preset makes of the answers of its platform."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from strongroom.plugin_api.login import LoginRejected, LoginUnavailable
from strongroom_login_oauth.errors import ProviderUnavailable
from strongroom_login_oidc.presets.github import api_url
from strongroom_simulators.oidc_providers import Person, agree
from strongroom_simulators.oidc_providers.microsoft import PERSONAL_TENANT
from strongroom_simulators.oidc_providers.samples import OTHER_TENANT, STAFF_TENANT

from .preset_logins import SiteOf, oidc, preset_sites


@pytest.fixture(scope="module")
def site_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteOf]:
    with preset_sites(tmp_path_factory.mktemp("keys")) as site_of:
        yield site_of


class TestGoogle:
    @pytest.mark.parametrize(
        ("email", "claims", "is_trusted"),
        [
            ("lin@gmail.com", {}, True),
            ("lin@GMAIL.com", {}, True),
            ("lin@example.org", {"hd": "example.org"}, True),
            # An account with an address that Google does not own.
            ("lin@example.org", {}, False),
            ("lin@example.org", {"hd": ""}, False),
            ("lin@example.org", {"hd": True}, False),
            ("lin@evil-gmail.com", {}, False),
            ("lin@gmail.com.evil.example", {}, False),
            ("lin@gmail.com", {"email_verified": False}, False),
            ("lin@example.org", {"hd": "example.org", "email_verified": "yes"}, False),
        ],
    )
    def test_an_address_counts_if_google_owns_it(
        self, email: str, claims: dict[str, Any], is_trusted: bool, site_of: SiteOf
    ) -> None:
        own = site_of("google")
        own.add(Person("some", "3001", "Some", email, claims=claims))
        assert bool(own.log_in("some", trust_email=True).further) is is_trusted

    @pytest.mark.parametrize(
        ("email", "claims", "is_accepted"),
        [
            ("lin@example.org", {"hd": "example.org"}, True),
            # The parameter of the request shows accounts only; the token's counts.
            ("lin@example.org", {}, False),
            ("lin@example.org", {"hd": "other.example"}, False),
            ("lin@other.example", {"hd": "example.org"}, False),
            ("lin@gmail.com", {}, False),
        ],
    )
    def test_an_allowed_domain_is_that_of_the_token(
        self, email: str, claims: dict[str, Any], is_accepted: bool, site_of: SiteOf
    ) -> None:
        own = site_of("google")
        own.add(Person("some", "3001", "Some", email, claims=claims))
        method = own.method(allowed_domains=("example.org",))
        assert "hd=example.org" in own.url(method)
        redirect = agree(own.url(method), "some")
        if is_accepted:
            assert own.finish(method, redirect).credential == oidc("google:3001")
            return
        with pytest.raises(LoginRejected) as rejected:
            own.finish(method, redirect)
        assert rejected.value.code == "error.oidc-email-not-allowed"


class TestMicrosoft:
    @pytest.mark.parametrize(
        ("person", "tenants", "is_accepted"),
        [
            ("lin", (), True),
            ("lin", (STAFF_TENANT,), True),
            ("ada", (STAFF_TENANT,), False),
            ("ada", (STAFF_TENANT, PERSONAL_TENANT), True),
            ("eve", (STAFF_TENANT, PERSONAL_TENANT), False),
        ],
    )
    def test_only_allowed_tenants_log_in(
        self, person: str, tenants: tuple[str, ...], is_accepted: bool, site_of: SiteOf
    ) -> None:
        own = site_of("microsoft")
        if is_accepted:
            assert own.log_in(person, tenants=tenants).credential.kind == "oidc"
            return
        with pytest.raises(LoginRejected) as rejected:
            own.log_in(person, tenants=tenants)
        assert rejected.value.code == "error.oidc-not-member"

    @pytest.mark.parametrize(
        "claims",
        [
            {"iss": "https://login.microsoftonline.com/{tenantid}/v2.0"},
            {"tid": OTHER_TENANT, "iss": f"URL/{STAFF_TENANT}/v2.0"},
            {"tid": "{tenantid}", "iss": "URL/{tenantid}/v2.0"},
            {"tid": "common", "iss": "URL/common/v2.0"},
            {"tid": STAFF_TENANT.upper(), "iss": f"URL/{STAFF_TENANT.upper()}/v2.0"},
            {"tid": f"{STAFF_TENANT}/../x", "iss": f"URL/{STAFF_TENANT}/../x/v2.0"},
            {"tid": None},
            {"oid": None},
            {"oid": ""},
            {"oid": "x"},
            {"oid": [STAFF_TENANT]},
        ],
        ids=str,
    )
    def test_a_token_has_its_tenant_and_its_person(
        self, claims: dict[str, Any], site_of: SiteOf
    ) -> None:
        own = site_of("microsoft")
        lin = own.platform.people["lin"]
        texts = {
            name: value.replace("URL", own.simulator.url) if isinstance(value, str) else value
            for name, value in claims.items()
        }
        issuer = {"iss": f"{own.simulator.url}/{STAFF_TENANT}/v2.0"}
        own.add(replace(lin, id="forged", claims={**lin.claims, **issuer, **texts}))
        # The platform reads the tenant of its person, which here is no tenant.
        own.platform.token_issuer = lambda person: str(person.claims.get("iss"))
        try:
            with pytest.raises(LoginRejected) as rejected:
                own.log_in("forged")
        finally:
            del own.platform.token_issuer
        assert rejected.value.code == "error.oidc-answer-invalid"

    def test_the_same_person_is_the_same_in_each_client(self, site_of: SiteOf) -> None:
        own = site_of("microsoft")
        first = own.log_in("lin").credential
        client = own.platform.clients["sample-client"]
        own.platform.add_client(replace(client, id="second-client"))
        assert own.log_in("lin", client_id="second-client").credential == first

    def test_one_tenant_accepts_its_people_only(self, site_of: SiteOf) -> None:
        # The authority of the token request is another one than that of the configuration.
        own = site_of("microsoft")
        own.platform.failures.plan_answer(
            f"/{STAFF_TENANT}/v2.0/.well-known/openid-configuration",
            json.dumps(
                {**own.platform.discovery(), "issuer": f"{own.simulator.url}/{STAFF_TENANT}/v2.0"}
            ).encode(),
            headers={"Content-Type": "application/json"},
            times=2,
        )
        assert own.log_in("lin", tenant=STAFF_TENANT).credential.kind == "oidc"
        with pytest.raises(LoginRejected) as rejected:
            own.log_in("eve", tenant=STAFF_TENANT)
        assert rejected.value.code == "error.oidc-not-member"


class TestApple:
    def test_the_name_comes_at_the_first_login(self, site_of: SiteOf) -> None:
        own = site_of("apple")
        own.add(Person("new", "4001", "Ada King", "ada@example.org"))
        assert own.log_in("new").display_name == "Ada King"
        assert own.log_in("new").display_name is None

    @pytest.mark.parametrize(
        "user",
        [
            "",
            "null",
            "[]",
            "{}",
            '{"name": null}',
            '{"name": "Ada"}',
            '{"name": {"firstName": 1, "lastName": ["x"]}}',
            '{"name": {"firstName": " \\u0000 "}}',
            '{"name": {"firstName": "\\ud800"}}',
            '{"name": {"firstName": "a"}, "name": {"firstName": "b"}}',
            "[" * 100_000,
        ],
        ids=range(11),
    )
    def test_a_strange_name_is_none(self, user: str, site_of: SiteOf) -> None:
        own = site_of("apple")
        method = own.method()
        redirect = {**agree(own.url(method), "lin"), "user": user}
        assert own.finish(method, redirect).display_name is None

    def test_the_form_proves_no_address(self, site_of: SiteOf) -> None:
        own = site_of("apple")
        own.add(Person("plain", "4002", "Ada", None))
        method = own.method(trust_email=True)
        forged = '{"name": {"firstName": "A"}, "email": "lin@example.org", "email_verified": true}'
        redirect = {**agree(own.url(method), "plain"), "user": forged}
        assert own.finish(method, redirect).further == ()

    def test_a_secret_is_made_for_each_request(self, site_of: SiteOf) -> None:
        own = site_of("apple")
        method = own.method()
        own.finish(method, agree(own.url(method), "lin"))
        own.clock.advance(365 * 86400)
        assert own.finish(method, agree(own.url(method), "lin")).credential == oidc("apple:1001")

    @pytest.mark.parametrize(
        "changes", [{"team_id": "OTHER"}, {"private_key_id": "OTHER"}], ids=["team", "key"]
    )
    def test_a_wrong_key_is_the_operators_to_correct(
        self, changes: dict[str, str], site_of: SiteOf
    ) -> None:
        with pytest.raises(LoginUnavailable) as unavailable:
            site_of("apple").log_in("lin", **changes)
        assert unavailable.value.misconfigured

    def test_a_key_of_another_kind_is_refused_at_the_start(
        self, site_of: SiteOf, tmp_path: Path
    ) -> None:
        path = tmp_path / "key.pem"
        path.write_bytes(RSAKey.generate_key(2048).as_pem(private=True))
        with pytest.raises(ValueError, match="private_key_file: must be the key that Apple"):
            site_of("apple").method(private_key_file=path)


EMAILS = [
    ([], None),
    ([{"email": "a@example.org", "primary": True, "verified": False}], None),
    ([{"email": "a@example.org", "primary": False, "verified": True}], None),
    ([{"email": "a@example.org", "primary": "true", "verified": True}], None),
    ([{"email": "a@example.org", "primary": True, "verified": "true"}], None),
    ([{"email": "a@example.org", "primary": True, "verified": 1}], None),
    ([{"email": ["a@example.org"], "primary": True, "verified": True}], None),
    (["a@example.org"], None),
    (
        [
            {"email": "a@example.org", "primary": True, "verified": True},
            {"email": "b@example.org", "primary": True, "verified": True},
        ],
        None,
    ),
    (
        [
            {"email": "a@example.org", "primary": False, "verified": True},
            {"email": "b@example.org", "primary": True, "verified": True},
        ],
        "b@example.org",
    ),
]


class TestGitHub:
    @pytest.mark.parametrize(("emails", "trusted"), EMAILS, ids=range(len(EMAILS)))
    def test_the_primary_verified_address_counts(
        self, emails: list[Any], trusted: str | None, site_of: SiteOf
    ) -> None:
        own = site_of("github")
        claims = {"login": "some", "public_email": "victim@example.org", "emails": emails}
        own.add(Person("some", "5001", "Some", "x@example.org", claims=claims))
        further = own.log_in("some", trust_email=True).further
        assert [credential.value for credential in further] == ([trusted] if trusted else [])

    @pytest.mark.parametrize(
        "body", [b"{}", b'{"id": "1"}', b'{"id": 1.0}', b'{"id": true}', b'{"id": 0}']
    )
    def test_a_profile_has_a_number(self, body: bytes, site_of: SiteOf) -> None:
        own = site_of("github")
        json_type = {"Content-Type": "application/json"}
        own.platform.failures.plan_answer("/api/v3/user", body, headers=json_type)
        with pytest.raises(LoginRejected) as rejected:
            own.log_in("lin")
        assert rejected.value.code == "error.oidc-answer-invalid"

    @pytest.mark.parametrize("status", [403, 429, 502])
    def test_a_limit_is_temporary(self, status: int, site_of: SiteOf) -> None:
        own = site_of("github")
        headers = {"X-RateLimit-Remaining": "0", "Content-Type": "application/json"}
        own.platform.failures.plan_answer("/api/v3/user", b"{}", status=status, headers=headers)
        with pytest.raises(LoginUnavailable) as unavailable:
            own.log_in("lin")
        assert not unavailable.value.misconfigured

    def test_requests_have_a_user_agent(self, site_of: SiteOf) -> None:
        # The simulator refuses requests without one, as GitHub does.
        assert site_of("github").log_in("lin").credential == oidc("github:1001")

    @pytest.mark.parametrize(
        ("base_url", "api"),
        [
            ("https://github.com", "https://api.github.com"),
            ("https://octo.ghe.com", "https://api.octo.ghe.com"),
            ("https://git.example.org", "https://git.example.org/api/v3"),
            ("https://notghe.com", "https://notghe.com/api/v3"),
        ],
    )
    def test_the_interface_is_where_the_server_has_it(self, base_url: str, api: str) -> None:
        assert api_url(base_url) == api


class TestGitee:
    @pytest.mark.parametrize(
        ("item", "is_trusted"),
        [
            ({"state": "confirmed", "scope": ["primary"]}, True),
            ({"state": "unconfirmed", "scope": ["primary"]}, False),
            ({"state": "Confirmed", "scope": ["primary"]}, False),
            ({"state": True, "scope": ["primary"]}, False),
            ({"state": "confirmed", "scope": ["notified"]}, False),
            ({"state": "confirmed", "scope": "primary"}, False),
            ({"state": "confirmed"}, False),
        ],
        ids=str,
    )
    def test_the_confirmed_primary_address_counts(
        self, item: dict[str, Any], is_trusted: bool, site_of: SiteOf
    ) -> None:
        own = site_of("gitee")
        claims = {"login": "some", "emails": [{"email": "a@example.org", **item}]}
        own.add(Person("some", "5001", "Some", claims=claims))
        assert bool(own.log_in("some", trust_email=True).further) is is_trusted


class TestQQ:
    @pytest.mark.parametrize("path", ["/oauth2.0/me", "/user/get_user_info", "/oauth2.0/token"])
    @pytest.mark.parametrize("body", [b"callback( {} );", b"a=b", b'{"error": "x"}', b"{}"])
    def test_answers_are_json(self, path: str, body: bytes, site_of: SiteOf) -> None:
        own = site_of("qq")
        own.platform.failures.plan_answer(path, body)
        if (path, body) == ("/user/get_user_info", b"{}"):
            assert own.log_in("lin").display_name is None
            return
        with pytest.raises(LoginUnavailable):
            own.log_in("lin")

    def test_a_token_of_another_app_is_refused(self, site_of: SiteOf) -> None:
        own = site_of("qq")
        body = b'{"client_id": "other", "openid": "O", "unionid": "U"}'
        own.platform.failures.plan_answer("/oauth2.0/me", body)
        with pytest.raises(LoginRejected) as rejected:
            own.log_in("lin")
        assert rejected.value.code == "error.oidc-answer-invalid"

    def test_the_right_to_read_union_ids_is_the_operators_to_get(self, site_of: SiteOf) -> None:
        own = site_of("qq")
        own.platform.has_union = False
        try:
            with pytest.raises(LoginUnavailable) as unavailable:
                own.log_in("lin")
        finally:
            own.platform.has_union = True
        assert unavailable.value.misconfigured
        assert "100048" in str(unavailable.value)


class TestSelfHosted:
    @pytest.mark.parametrize(
        ("preset", "issuer"),
        [
            ("gitlab", ""),
            ("keycloak", "/realms/staff"),
            ("authentik", "/application/o/strongroom/"),
            ("zitadel", ""),
            ("logto", "/oidc"),
            ("casdoor", ""),
        ],
    )
    @pytest.mark.parametrize("slash", ["", "/"])
    def test_the_issuer_is_made_of_the_base_url(
        self, preset: str, issuer: str, slash: str, site_of: SiteOf
    ) -> None:
        own = site_of(preset)
        method = own.method(base_url=own.simulator.url + slash)
        provider: Any = method.providers[preset]
        assert provider.issuer() == own.simulator.url + issuer
        own.finish(method, agree(own.url(method), "lin"))

    def test_a_discovery_document_of_another_issuer_begins_no_login(self, site_of: SiteOf) -> None:
        own = site_of("keycloak")
        path = "/realms/staff/.well-known/openid-configuration"
        body = json.dumps({**own.platform.discovery(), "issuer": "https://other.example"}).encode()
        own.platform.failures.plan_answer(path, body, headers={"Content-Type": "application/json"})
        with pytest.raises(Exception, match="another issuer") as refused:
            own.url(own.method())
        assert not isinstance(refused.value, ProviderUnavailable)

    def test_zitadel_returns_the_profile_at_userinfo(self, site_of: SiteOf) -> None:
        own = site_of("zitadel")
        assert own.log_in("lin", trust_email=True).further != ()
        own.platform.failures.plan_answer(
            "/oidc/v1/userinfo",
            b'{"sub": "1002", "email": "victim@example.org", "email_verified": true}',
            headers={"Content-Type": "application/json"},
        )
        with pytest.raises(LoginRejected) as rejected:
            own.log_in("lin", trust_email=True)
        assert rejected.value.code == "error.oidc-answer-invalid"
