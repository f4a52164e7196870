"""The simulator's page with the QR code."""

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import urlencode, urljoin

import pytest
import requests

from strongroom_login_oauth.provider import Start
from strongroom_login_wechat.website import Website
from strongroom_simulators.wechat import Platform, PlatformApp, Simulator

from .harness import identify

Decide = Callable[..., dict[str, list[str]]]


@pytest.fixture
def parameters(site_app: PlatformApp) -> dict[str, str]:
    return {
        "appid": site_app.appid,
        "redirect_uri": "http://127.0.0.1:9/callback",
        "response_type": "code",
        "scope": "snsapi_login",
        "state": "s1",
    }


def _get(simulator: Simulator, parameters: dict[str, str]) -> requests.Response:
    return requests.get(f"{simulator.url}/connect/qrconnect?{urlencode(parameters)}", timeout=30)


def test_the_page_lets_one_choose_who_scans(site: Website) -> None:
    page = requests.get(site.authorize_url(Start("s1", site.redirect_uri)), timeout=30)
    assert page.status_code == 200
    assert re.findall(r'type="radio" name="person" value="(\w+)"', page.text) == ["lin", "wei", "ada"]
    assert re.findall(r'<button name="decision" value="(\w+)"', page.text) == ["confirm", "deny"]
    assert "林小雨" in page.text


def test_the_pages_form_leads_back_with_code_and_state(site: Website, decide: Decide) -> None:
    url = site.authorize_url(Start("a state & more", site.redirect_uri, language="zh"))
    form = re.search(r'<form method="post" action="([^"]+)"', requests.get(url, timeout=30).text)
    assert form is not None
    sent_back = decide(urljoin(url, unescape(form[1])), person="wei", decision="confirm")
    assert sent_back["state"] == ["a state & more"]
    assert sent_back["to"] == ["a b"]
    assert identify(site, sent_back["code"][0]).nickname == "魏晨 🌅"


def test_the_page_loads_nothing_from_elsewhere(site: Website) -> None:
    page = requests.get(site.authorize_url(Start("s1", site.redirect_uri)), timeout=30).text
    assert not re.findall(r'(?:src|href)="|url\(|@import', page)


def test_a_denial_comes_back_with_the_state_alone(
    simulator: Simulator, parameters: dict[str, str], decide: Decide
) -> None:
    url = f"{simulator.url}/connect/qrconnect?{urlencode(parameters)}"
    assert decide(url, person="lin", decision="deny") == {"state": ["s1"]}


def test_a_denial_may_also_leave_the_browser_where_it_is(
    simulator: Simulator, parameters: dict[str, str], vendor: Platform
) -> None:
    vendor.denial_redirects = False
    url = f"{simulator.url}/connect/qrconnect?{urlencode(parameters)}"
    page = requests.post(url, data={"decision": "deny"}, allow_redirects=False, timeout=30)
    assert page.status_code == 200
    assert "denied on the phone" in page.text


def test_the_state_is_optional_for_the_platform(
    simulator: Simulator, parameters: dict[str, str], decide: Decide
) -> None:
    del parameters["state"]
    url = f"{simulator.url}/connect/qrconnect?{urlencode(parameters)}"
    assert list(decide(url, person="lin", decision="confirm")) == ["code"]


def test_the_page_scans_only_as_a_chosen_person(
    simulator: Simulator, parameters: dict[str, str]
) -> None:
    url = f"{simulator.url}/connect/qrconnect?{urlencode(parameters)}"
    page = requests.post(url, data={"decision": "confirm", "person": "nobody"}, timeout=30)
    assert page.status_code == 400
    assert "Choose who scans." in page.text


@pytest.mark.parametrize(
    ("parameter", "value", "problem"),
    [
        ("appid", "wx0000000000000000", "The appid"),
        ("appid", "wx00000000000000b2", "The appid"),
        ("redirect_uri", "http://elsewhere.example/callback", "The redirect_uri"),
        ("redirect_uri", "http://127.0.0.1.example/callback", "The redirect_uri"),
        ("redirect_uri", "http://127.0.0.1@elsewhere.example/", "The redirect_uri"),
        ("redirect_uri", "", "The redirect_uri"),
        ("response_type", "token", "The response_type"),
        ("scope", "snsapi_base", "The response_type or the scope"),
    ],
)
def test_wrong_parameters_produce_neither_code_nor_redirect(
    parameter: str, value: str, problem: str, simulator: Simulator, parameters: dict[str, str]
) -> None:
    wrong = {**parameters, parameter: value}
    url = f"{simulator.url}/connect/qrconnect?{urlencode(wrong)}"
    posted = requests.post(
        url, data={"decision": "confirm", "person": "lin"}, allow_redirects=False, timeout=5
    )
    for page in (_get(simulator, wrong), posted):
        assert page.status_code == 400
        assert problem in page.text
