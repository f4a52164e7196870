"""Simulated providers refuse what the real ones refuse, each in its own form."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from urllib.parse import quote_plus, urlencode

import pytest
import requests
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError
from joserfc.jwk import ECKey, KeySet

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.oidc_providers import (
    CLIENT,
    PROVIDERS,
    Person,
    Simulator,
    agree,
    refuse,
    sample_provider,
)
from strongroom_simulators.oidc_providers.grants import challenge_of
from strongroom_simulators.oidc_providers.microsoft import Microsoft
from strongroom_simulators.oidc_providers.openid import OpenIdProvider

CALLBACK = "https://strongroom.example/callback"
VERIFIER = "v" * 43
SCOPES = {
    "apple": "openid email name",
    "github": "read:user user:email",
    "gitee": "user_info emails",
    "qq": "get_user_info",
}
OPENID = [name for name, make in PROVIDERS.items() if issubclass(make, OpenIdProvider)]  # type: ignore[arg-type]


class Site:
    """A provider that is served, and a client that speaks to it by plain HTTP."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self.provider: Any = simulator.provider
        self.url = simulator.url

    def authorization(self, **changes: str) -> str:
        """Return the URL of a request; an empty value leaves a parameter out."""
        preset = next(name for name, make in PROVIDERS.items() if make is type(self.provider))
        query = {
            "client_id": CLIENT.id,
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "scope": SCOPES.get(preset, "openid email profile"),
            "state": "s1",
            "nonce": "n1",
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            "response_mode": "form_post" if preset == "apple" else "",
        }
        present = {name: value for name, value in {**query, **changes}.items() if value}
        return f"{self.url}{self.provider.authorize_path}?{urlencode(present)}"

    def code(self, person: str = "lin", **changes: str) -> str:
        return agree(self.authorization(**changes), person)["code"]

    def token(self, code: str, **changes: str) -> requests.Response:
        """Redeem a code; an empty value leaves a parameter out. ``basic`` authenticates by a header."""
        basic = changes.pop("basic", "")
        fmt = {"fmt": "json"} if self.provider.token_verb == "GET" else {}
        form = {
            **fmt,
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
            **({} if basic else {"client_id": CLIENT.id, "client_secret": CLIENT.secret}),
            **changes,
        }
        form = {name: value for name, value in form.items() if value}
        pair = f"{quote_plus(CLIENT.id)}:{quote_plus(CLIENT.secret)}".encode()
        headers = {"Accept": "application/json"}
        if basic:
            headers["Authorization"] = f"Basic {b64encode(pair).decode()}"
        url = self.url + self.provider.token_path
        if self.provider.token_verb == "GET":
            return requests.get(url, params=form, headers=headers, timeout=30)
        return requests.post(url, data=form, headers=headers, timeout=30)

    def claims(self, tokens: dict[str, Any]) -> dict[str, Any]:
        """Return the claims of the ID token, verified with the published keys."""
        keys = KeySet.import_key_set(self.get(self.discovery()["jwks_uri"]).json())
        return jwt.decode(tokens["id_token"], keys, algorithms=["RS256", "ES384"]).claims

    def discovery(self) -> dict[str, Any]:
        path = self.provider.issuer_path.rstrip("/")
        return self.get(f"{self.url}{path}/.well-known/openid-configuration").json()  # type: ignore[no-any-return]

    def get(self, url: str, **headers: str) -> requests.Response:
        return requests.get(url, headers=headers, timeout=30)


@pytest.fixture(scope="module")
def site() -> Iterator[Callable[[str], Site]]:
    sites: dict[str, Site] = {}
    with ExitStack() as stack:

        def serve(preset: str) -> Site:
            if preset not in sites:
                provider = sample_provider(preset, CALLBACK)
                sites[preset] = Site(stack.enter_context(Simulator(provider)))
            return sites[preset]

        yield serve


@pytest.mark.parametrize("preset", sorted(set(OPENID) - {"apple"}))
def test_an_id_token_has_what_the_request_had(preset: str, site: Callable[[str], Site]) -> None:
    own = site(preset)
    tokens = own.token(own.code()).json()
    claims = own.claims(tokens)
    assert claims["nonce"] == "n1"
    assert claims["aud"] in (CLIENT.id, [CLIENT.id])
    assert claims["iss"].startswith(own.url)
    if preset != "microsoft":
        assert own.discovery()["issuer"] == claims["iss"]


@pytest.mark.parametrize("preset", sorted(PROVIDERS))
def test_a_refusal_is_sent_back_with_the_state(preset: str, site: Callable[[str], Site]) -> None:
    parameters = refuse(site(preset).authorization())
    denial = {"qq": {"usercancel": "1"}, "apple": {"error": "user_cancelled_authorize"}}
    assert denial.get(preset, {"error": "access_denied"}).items() <= parameters.items()
    assert parameters["state"] == "s1"
    assert "code" not in parameters


@pytest.mark.parametrize("preset", sorted(PROVIDERS))
@pytest.mark.parametrize(
    "changes",
    [{"client_id": "other"}, {"redirect_uri": "https://attacker.example/callback"}],
    ids=["client", "redirect"],
)
def test_a_wrong_client_or_redirect_is_not_sent_back(
    preset: str, changes: dict[str, str], site: Callable[[str], Site]
) -> None:
    for method in (requests.get, requests.post):
        response = method(site(preset).authorization(**changes), allow_redirects=False, timeout=30)
        assert response.status_code == 400
        assert "Location" not in response.headers


@pytest.mark.parametrize("preset", sorted(set(PROVIDERS) - {"apple"}))
@pytest.mark.parametrize("wrong", ["unknown", "used", "redirect", "secret", "expired", "grant"])
def test_a_wrong_exchange_gives_no_token(preset: str, wrong: str, site: Callable[[str], Site]) -> None:
    own = site(preset)
    code = own.code()
    if wrong == "used":
        own.token(code)
    if wrong == "expired":
        own.provider.clock.advance(own.provider.code_lifetime)
    changes = {
        "redirect": {"redirect_uri": "https://strongroom.example/callback/../other"},
        "secret": {"client_secret": "wrong"},
        "grant": {"grant_type": "client_credentials"},
    }
    response = own.token("unknown" if wrong == "unknown" else code, **changes.get(wrong, {}))
    assert "access_token" not in response.text
    assert "error" in response.json()
    is_always_200 = preset in ("github", "qq")
    assert (response.status_code == 200) is is_always_200


def test_a_second_use_of_a_code_revokes_its_token(site: Callable[[str], Site]) -> None:
    own = site("openid")
    code = own.code()
    token = own.token(code).json()["access_token"]
    userinfo = own.discovery()["userinfo_endpoint"]
    assert own.get(userinfo, Authorization=f"Bearer {token}").json()["email"] == "lin@example.org"
    own.token(code)
    assert own.get(userinfo, Authorization=f"Bearer {token}").status_code == 401


def test_pkce_is_verified(site: Callable[[str], Site]) -> None:
    own = site("openid")
    for changes in ({"code_verifier": "w" * 43}, {"code_verifier": ""}):
        assert own.token(own.code(), **changes).json()["error"] == "invalid_grant"
    # A verifier without a challenge is a downgrade (RFC 9700, 4.8.2).
    plain = own.code(code_challenge="", code_challenge_method="")
    assert own.token(plain).json()["error"] == "invalid_grant"
    answer = agree(own.authorization(code_challenge_method="plain"), "lin")
    assert answer["error"] == "invalid_request"


def test_a_client_uses_one_authentication(site: Callable[[str], Site]) -> None:
    own = site("openid")
    assert own.token(own.code(), basic="yes").status_code == 200
    both = own.token(own.code(), basic="yes", client_secret=CLIENT.secret, client_id=CLIENT.id)
    assert both.json()["error"] == "invalid_request"
    assert (
        own.token(own.code(), client_secret="", client_id=CLIENT.id).json()["error"] == "invalid_client"
    )


def test_an_assertion_counts_once(site: Callable[[str], Site]) -> None:
    own = site("keycloak")
    key = ECKey.generate_key("P-256")
    public = key.as_pem(private=False).decode()
    own.provider.add_client(replace(own.provider.clients[CLIENT.id], public_key=public))
    now = int(own.provider.clock())
    claims = {
        "iss": CLIENT.id,
        "sub": CLIENT.id,
        "aud": own.provider.issuer(),
        "jti": "1",
        "exp": now + 60,
    }

    def send(**changes: object) -> int:
        text = jwt.encode({"alg": "ES256"}, {"jti": "1", **claims, **changes}, key)
        kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        form = {"client_assertion": text, "client_assertion_type": kind, "client_secret": ""}
        return own.token(own.code(), **form).status_code

    assert send(aud="https://other.example") == 401
    assert send(exp=now - 1) == 401
    assert [send(), send(), send(jti="2")] == [200, 401, 200]


def test_keys_are_rotated(site: Callable[[str], Site]) -> None:
    own = site("openid")
    before = own.token(own.code()).json()
    own.provider.keys.rotate()
    assert own.claims(own.token(own.code()).json())["sub"] == own.claims(before)["sub"] == "1001"
    own.provider.keys.rotate(withdraw=True)
    with pytest.raises(InvalidKeyIdError):
        own.claims(before)


class TestApple:
    @pytest.fixture
    def own(self, site: Callable[[str], Site]) -> Site:
        return site("apple")

    @pytest.fixture
    def secret(self, own: Site) -> Callable[..., str]:
        key = ECKey.generate_key("P-256")
        public = key.as_pem(private=False).decode()
        client = own.provider.clients[CLIENT.id]
        own.provider.add_client(replace(client, public_key=public, team_id="TEAM", key_id="KEY"))

        def make(kid: str = "KEY", **changes: object) -> str:
            now = int(own.provider.clock())
            claims = {"iss": "TEAM", "sub": CLIENT.id, "aud": own.url, "iat": now, "exp": now + 300}
            return jwt.encode({"alg": "ES256", "kid": kid}, {**claims, **changes}, key)

        return make

    def test_a_signed_secret_redeems_a_code(self, own: Site, secret: Callable[..., str]) -> None:
        claims = own.claims(own.token(own.code(), client_secret=secret()).json())
        assert claims["email_verified"] == "true"
        assert claims["is_private_email"] == "false"
        assert "name" not in claims

    @pytest.mark.parametrize(
        "changes",
        [
            {"iss": "OTHER"},
            {"sub": "other"},
            {"aud": "https://other.example"},
            {"exp": 1},
            {"exp": 9_999_999_999},
            {"kid": "OTHER"},
        ],
        ids=str,
    )
    def test_a_wrong_secret_is_refused(
        self, own: Site, secret: Callable[..., str], changes: dict[str, Any]
    ) -> None:
        response = own.token(own.code(), client_secret=secret(**changes))
        assert (response.status_code, response.json()["error"]) == (400, "invalid_client")

    def test_a_code_lives_for_five_minutes(self, own: Site, secret: Callable[..., str]) -> None:
        code = own.code()
        own.provider.clock.advance(300)
        assert own.token(code, client_secret=secret()).json()["error"] == "invalid_grant"

    def test_the_name_comes_once(self, own: Site) -> None:
        own.provider.add_person(Person("new", "2001", "Ada King", "x@privaterelay.appleid.com"))
        first, second = (agree(own.authorization(), "new") for _ in range(2))
        assert '"firstName": "Ada", "lastName": "King"' in first["user"]
        assert "user" not in second

    def test_scopes_need_the_form_post(self, own: Site) -> None:
        for url in (own.authorization(response_mode=""), own.authorization(response_mode="query")):
            assert agree(url, "lin")["error"] == "invalid_request"


class TestMicrosoft:
    def test_an_issuer_is_that_of_the_persons_tenant(self, site: Callable[[str], Site]) -> None:
        own = site("microsoft")
        assert own.discovery()["issuer"] == own.url + "/{tenantid}/v2.0"
        claims = own.claims(own.token(own.code()).json())
        assert claims["iss"] == f"{own.url}/{claims['tid']}/v2.0"
        assert claims["sub"] != "1001"
        assert "email_verified" not in claims

    def test_a_used_code_has_its_number(self, site: Callable[[str], Site]) -> None:
        own = site("microsoft")
        code = own.code()
        own.token(code)
        assert own.token(code).json()["error_codes"] == [54005]

    @pytest.mark.parametrize(
        ("tenant", "accepted"),
        [
            ("common", ["lin", "ada", "eve"]),
            ("organizations", ["lin", "eve"]),
            ("consumers", ["ada"]),
            ("aaaabbbb-0000-cccc-1111-dddd2222eeee", ["lin"]),
        ],
    )
    def test_an_authority_accepts_its_accounts(self, tenant: str, accepted: list[str]) -> None:
        people = sample_provider("microsoft").people
        authority = Microsoft(AdjustableClock(), tenant=tenant)
        assert [name for name, person in people.items() if authority.accepts(person)] == accepted


class TestGitHub:
    @pytest.fixture
    def own(self, site: Callable[[str], Site]) -> Site:
        return site("github")

    def test_a_token_is_a_form_unless_the_client_accepts_json(self, own: Site) -> None:
        url = own.url + own.provider.token_path
        form = {"client_id": CLIENT.id, "client_secret": CLIENT.secret, "redirect_uri": CALLBACK}
        form |= {"code": own.code(), "code_verifier": VERIFIER}
        assert requests.post(url, data=form, timeout=30).text.startswith("access_token=")

    def test_people_have_numbers_and_addresses(self, own: Site) -> None:
        token = own.token(own.code()).json()["access_token"]
        rest = f"{own.url}/api/v3/user"
        user = own.get(rest, Authorization=f"Bearer {token}").json()
        assert (user["id"], user["login"], user["email"]) == (1001, "lin", None)
        (email,) = own.get(f"{rest}/emails", Authorization=f"token {token}").json()
        assert (email["email"], email["primary"], email["verified"]) == ("lin@example.org", True, True)
        assert own.get(rest, Authorization="Bearer wrong").status_code == 401
        assert own.get(rest, **{"Authorization": f"Bearer {token}", "User-Agent": ""}).status_code == 403

    def test_addresses_need_their_scope(self, own: Site) -> None:
        token = own.token(own.code(scope="read:user")).json()["access_token"]
        rest = f"{own.url}/api/v3/user/emails"
        assert own.get(rest, Authorization=f"Bearer {token}").status_code == 404

    def test_a_path_below_the_registered_one_is_accepted(self, own: Site) -> None:
        assert own.code(redirect_uri=f"{CALLBACK}/below")
        for other in (
            "https://strongroom.example/callback2",
            "https://evil.strongroom.example/callback",
        ):
            with pytest.raises(ValueError, match="not registered"):
                own.code(redirect_uri=other)


class TestQQ:
    @pytest.fixture
    def own(self, site: Callable[[str], Site]) -> Site:
        return site("qq")

    def test_answers_are_json_on_request_only(self, own: Site) -> None:
        assert own.token(own.code(), fmt="").text.startswith("access_token=")
        token = own.token(own.code()).json()["access_token"]
        me = f"{own.url}/oauth2.0/me?access_token={token}"
        assert own.get(me).text.startswith("callback( {")
        members = own.get(f"{me}&fmt=json&unionid=1").json()
        assert members["client_id"] == CLIENT.id
        assert members["unionid"] == "UID_1001"
        assert len(members["openid"]) == 32
        info = f"{own.url}/user/get_user_info?access_token={token}&oauth_consumer_key={CLIENT.id}"
        assert own.get(f"{info}&openid={members['openid']}").json()["nickname"] == "林 小雨"
        assert own.get(f"{info}&openid={'0' * 32}").json()["ret"] == -23

    def test_union_ids_need_a_right(self, own: Site) -> None:
        own.provider.has_union = False
        token = own.token(own.code()).json()["access_token"]
        me = f"{own.url}/oauth2.0/me?access_token={token}&fmt=json&unionid=1"
        assert own.get(me).json()["error"] == 100048
        own.provider.has_union = True

    def test_errors_are_jsonp_by_default(self, own: Site) -> None:
        assert own.token("wrong", fmt="").text.startswith('callback( {"error": 100019')


def test_gitee_has_addresses_with_a_state(site: Callable[[str], Site]) -> None:
    own = site("gitee")
    token = own.token(own.code("eve")).json()["access_token"]
    (email,) = own.get(f"{own.url}/api/v5/emails", Authorization=f"Bearer {token}").json()
    assert (email["email"], email["state"]) == ("eve@example.net", "unconfirmed")
    user = own.get(f"{own.url}/api/v5/user?access_token={token}").json()
    assert (user["id"], user["email"]) == (1003, "未公开邮箱")
    assert own.get(f"{own.url}/api/v5/user?access_token=wrong").status_code == 401


def test_planned_answers_come_first(site: Callable[[str], Site]) -> None:
    own = site("google")
    own.provider.failures.plan_answer(own.provider.token_path, b"busy", status=503)
    assert own.token(own.code()).status_code == 503
    assert own.token(own.code()).status_code == 200
