"""The names of several apps of one platform on the login page."""

from types import SimpleNamespace
from typing import Any

from strongroom_login_oauth.links import distinct_labels

ACME = {"en": "Acme", "zh": "极致"}


def app(labels: dict[str, str]) -> Any:
    return SimpleNamespace(labels=labels)


def test_a_further_app_of_a_platform_has_its_own_name_as_well() -> None:
    assert distinct_labels({"site": app(ACME), "shop": app(ACME), "staff": app(ACME)}) == {
        "site": ACME,
        "shop": {"en": "Acme (shop)", "zh": "极致（shop）"},
        "staff": {"en": "Acme (staff)", "zh": "极致（staff）"},
    }


def test_platforms_with_different_names_keep_them() -> None:
    drawer = {"en": "Drawer", "de": "Schublade"}
    assert distinct_labels({"site": app(ACME), "drawer": app(drawer)}) == {
        "site": ACME,
        "drawer": drawer,
    }
