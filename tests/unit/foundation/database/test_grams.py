"""The grams of a search are among those of each text that has the part."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongroom.foundation.database.grams import MAX_GRAMS, Grams

TEXTS = st.text("ab1@.\n王伟", min_size=1, max_size=40)


@given(before=TEXTS, part=TEXTS, after=TEXTS, has_triples=st.booleans())
def test_each_text_with_a_part_has_the_grams_of_its_search(
    before: str, part: str, after: str, has_triples: bool
) -> None:
    grams = Grams(frozenset("a"), has_triples=has_triples)
    wanted = grams.of_search("", part)
    assert wanted <= grams.of_row("", before + part + after)
    assert len(wanted) <= MAX_GRAMS
    assert wanted or part == "a"


@pytest.mark.parametrize("part", ["13579", "example", "qq@ex"])
def test_triples_exclude_texts_that_have_all_pairs_of_a_part(part: str) -> None:
    pairs = "\n".join(first + second for first, second in pairwise(part))
    for has_triples in (False, True):
        grams = Grams(has_triples=has_triples)
        is_candidate = grams.of_search("", part) <= grams.of_row("", pairs)
        assert is_candidate is not has_triples


def test_two_chinese_characters_among_others_are_a_gram() -> None:
    grams = Grams(has_triples=True)
    assert grams.of_search("", "王伟") <= grams.of_row("", "小王伟\nwang.wei@example.com")
    assert not grams.of_search("", "王伟abc") <= grams.of_row("", "王 伟abc")
