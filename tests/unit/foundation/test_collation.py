"""Sort keys, compared with those of ICU where it is installed."""

import json
import subprocess
import sys
import unicodedata
from functools import cache
from itertools import islice
from random import Random

import pytest

from strongroom.foundation.collation import MAX_SORT_KEY, _root, sort_key

KEYS = {
    "": " ",
    "Report 7.pdf": "]CYW]a#9#7+YAE!!* Report 7.pdf",
    "007": "9#7 007",
    "0": "9#0 0",
    "é": "C!BF é",
    "отчёт": "\u253b\u2562\u25b8\u24ae\u2562!BBBBM отчёт",
    "报": "\U00010340\ueaa5 报",
}
"""Stored keys. A change of one needs a migration that computes all keys again."""

ORDERED = [
    *("_a", "-a", ".a", "2", "10", "1000000000000000000000", "a", "A", "a b", "a.a", "a01", "a1", "a2"),
    *("a10", "ab", "Äpfel", "apple", "Banana", "img9", "img10", "resume", "résumé", "Zebra", "смета"),
]
WORDS = (
    "apple Äpfel Banana zebra résumé Resume rôle straße Ångström œuvre ñandú Łódź İstanbul Report",
    "отчёт Отчет ёлка Елка Йод Іван договор Договор смета акт Ґанок",
    "αθήνα Αθήνα άλφα Άλφα ωμέγα έκθεση εκθεση",
    "报告 合同 一 二 三 北京 上海 發票 简历",
    "レポート れぽーと りんご リンゴ はは パパ ばば カー",
    "تقرير عقد أحمد احمد إسلام ملف",
    "보고서 계약 가 각 사과",
)
BETWEEN = [*" _-.(#&',+$€…![1", " (", ") ", "02", "30"]
ICU = """
import icu, json, sys
collator = icu.Collator.createInstance(icu.Locale.getRoot())
collator.setAttribute(icu.UCollAttribute.NUMERIC_COLLATION, icu.UCollAttributeValue.ON)
names = json.load(sys.stdin)
json.dump(sorted(names, key=lambda name: (collator.getSortKey(name), name)), sys.stdout)
"""


def test_stored_keys_stay_the_same() -> None:
    assert {name: sort_key(name) for name in KEYS} == KEYS


def test_names_are_in_the_order_that_people_expect() -> None:
    assert sorted({*ORDERED}, key=sort_key) == ORDERED


def test_keys_are_bounded_and_distinct() -> None:
    for char in ("\ufdfa", "龥", "a", "é", "9", "\U0001f600", "\u0301"):
        keys = [sort_key(char * length) for length in (254, 255)]
        assert max(map(len, keys)) <= MAX_SORT_KEY
        assert keys == sorted({*keys})


@cache
def pythons_with_icu() -> list[str]:
    """Return the Pythons that have PyICU: this one, or the one of the system (python3-icu of Debian)."""
    check = ["-c", "import icu"]
    found = []
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, *check], capture_output=True, check=False).returncode == 0:
                found.append(python)
        except FileNotFoundError:
            continue
    return found


def random_names(seed: int, count: int) -> list[str]:
    random, names = Random(seed), set[str]()
    while len(names) < count:
        words = random.choice(WORDS).split()
        sources = random.choices((words, BETWEEN), (7, 3), k=random.randint(1, 5))
        parts = [random.choice(source) for source in sources]
        names.add(unicodedata.normalize("NFC", "".join(parts)))
    return sorted(names)


def test_the_order_is_the_root_order_of_icu() -> None:
    if not pythons_with_icu():
        pytest.skip("PyICU is not installed")
    names = random_names(1, 3000)
    run = [pythons_with_icu()[0], "-c", ICU]
    answer = subprocess.run(run, input=json.dumps(names), capture_output=True, text=True, check=True)
    expected = json.loads(answer.stdout)
    found = sorted(names, key=sort_key)
    different = ((one, other) for one, other in zip(found, expected, strict=True) if one != other)
    assert [*islice(different, 5)] == []


def test_ascii_characters_have_weights_of_their_own() -> None:
    root, letters = _root(), [chr(number) for number in range(128)]
    for first in letters:
        for second in letters:
            together = [*root.collation_elements(first + second)]
            apart = [*root.collation_elements(first), *root.collation_elements(second)]
            assert together == apart, first + second
