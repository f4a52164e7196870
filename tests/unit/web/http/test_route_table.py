"""The route table matches as Werkzeug's map does, or not at all."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, RequestRedirect, Rule

from strongroom.web.http.dispatch.route_table import RouteTable

METHODS = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"]
PLAIN_SEGMENTS = ["a", "b", "<x>"]
SEGMENTS = [*PLAIN_SEGMENTS, "<y>", "<int:n>", "<string(length=1):s>", "<path:p>", "a<z>", "<any(a):w>"]
VALUES = ["a", "b", "ab", "a.b", "1", "é", "a b", "%41", "<x>", "", ".", ".."]
DEFAULTS = [None, None, None, {"x": "a"}, {"n": 1}]

segments = st.lists(st.sampled_from(SEGMENTS), max_size=3, unique=True)
paths = st.lists(st.sampled_from(VALUES), max_size=4).map(lambda values: "/" + "/".join(values))


@st.composite
def rule_lists(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return the arguments of rules; the table matches most of them."""
    rules = []
    for number in range(draw(st.integers(1, 6))):
        plain = draw(st.integers(0, 3)) > 0
        chosen = draw(st.lists(st.sampled_from(PLAIN_SEGMENTS), max_size=3) if plain else segments)
        parameters = [item for item in chosen if "<" in item]
        if len(parameters) != len(set(parameters)):
            continue
        path = "/" + "/".join(chosen) + ("/" if not plain and draw(st.booleans()) and chosen else "")
        options: dict[str, Any] = {"methods": draw(st.sets(st.sampled_from(METHODS), min_size=1))}
        if not plain:
            options |= {
                "methods": draw(st.none() | st.just(options["methods"])),
                "defaults": draw(st.sampled_from(DEFAULTS)),
                "redirect_to": draw(st.sampled_from([None, None, "/b"])),
                "build_only": draw(st.sampled_from([False, False, True])),
                "strict_slashes": draw(st.sampled_from([None, True, False])),
                "subdomain": draw(st.sampled_from([None, None, "elsewhere"])),
                "alias": draw(st.sampled_from([False, False, True])),
                "websocket": options["methods"] <= {"GET", "HEAD", "OPTIONS"} and draw(st.booleans()),
            }
        options["endpoint"] = draw(st.sampled_from([f"view{number}", "shared"]))
        rules.append({"string": path, **options})
    return rules


@settings(deadline=None)
@given(rule_lists(), paths, st.sampled_from(METHODS))
def test_the_table_matches_what_werkzeug_matches(
    rules: list[dict[str, Any]], path: str, method: str
) -> None:
    url_map = Map([Rule(**options) for options in rules], merge_slashes=False)
    found = RouteTable(url_map.iter_rules()).match(method, path)
    if found is None or path.startswith("//"):
        return
    rule, values = url_map.bind("localhost").match(path, method, return_rule=True)
    assert found == (rule, values)


PLAIN = ["/", "/a", "/a/<x>", "/<x>/b", "/a/b/<y>", "/a/b/c", "/<x>/<y>"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PLAIN), unique=True), paths, st.sampled_from(["GET", "POST"]))
def test_rules_of_fixed_segments_and_text_are_matched_by_the_table(
    rules: list[str], path: str, method: str
) -> None:
    url_map = Map([Rule(rule, endpoint=rule, methods=["GET"]) for rule in rules], merge_slashes=False)
    found = RouteTable(url_map.iter_rules()).match(method, path)
    try:
        expected = url_map.bind("localhost").match(path, method, return_rule=True)
    except (HTTPException, RequestRedirect):
        assert found is None
    else:
        if path != "/" and not path.startswith("//"):
            assert found == expected
