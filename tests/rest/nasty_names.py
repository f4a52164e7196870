"""Four hundred names that have brought servers, shells and file systems into trouble."""

import unicodedata
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from strongroom.foundation.collation import sort_key

COUNT: Final = 400

SYNTAX: Final = [
    *"!\"#$%&'()*+,-:;<=>?@[\\]^_`{|}~",
    *(
        "'; DROP TABLE nodes; --",
        "$(reboot)",
        "`id`",
        "&& ls",
        "| cat",
        "a\\b",
        "C:\\x",
        "\\\\host\\share",
    ),
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "&lt;b&gt;"),
    *(
        "%2e%2e%2f",
        "%00",
        "%",
        "%zz",
        "a%20b",
        "a+b",
        "?x=y",
        "#fragment",
        "a;b",
        "a=b&c=d",
        "{0}",
        "%s%n",
    ),
    *(
        'a"b',
        "a'b",
        'filename="x"',
        "x; filename=y",
        "=?utf-8?q?x?=",
        "UTF-8''x",
        '\\"',
        "*",
        "~",
        "~root",
    ),
    *(
        "=1+1",
        "@sum",
        "-rf",
        "--help",
        "- ",
        "null",
        "None",
        "undefined",
        "true",
        "NaN",
        "0",
        "-1",
        "1e9",
    ),
    *("${jndi:ldap://x}", "{{7*7}}", "<%= 1 %>", "__proto__", "constructor", "__init__.py", ".htaccess"),
]
FILE_SYSTEMS: Final = [
    *("CON", "con", "NUL", "nul.txt", "AUX", "PRN", "COM1", "LPT1", "COM¹", "CONIN$", "aux.tar.gz"),
    *(
        ".",
        "..",
        "...",
        "....",
        ". ",
        ".. ",
        " .",
        "a.",
        "a..",
        "a ",
        " a",
        " ",
        "  ",
        ".a",
        ".git",
        "-",
    ),
    *("Desktop.ini", "Thumbs.db", ".DS_Store", "a:b", "a:$DATA", "a::$INDEX_ALLOCATION", "web.config"),
    *("/", "/etc/passwd", "../x", "a/../b", "a/", "//", "\\", "..\\x", "..\\..\\x", "a\\", "file://x"),
    *(
        "",
        "\0",
        "a\0b",
        "\n",
        "a\nb",
        "a\r\nX: y",
        "\t",
        "\x1b[2J",
        "\x7f",
        "\x80",
        "\x85",
        "\x9f",
        "\x08",
    ),
]
UNICODE: Final = [
    *(
        "é",
        "e\u0301",
        "\u212b",
        "\u00c5",
        "A\u030a",
        "\u1e9b\u0323",
        "\u0958",
        "\U0001d160",
        "\uac00",
        "가",
    ),
    *("ﬁ", "fi", "ß", "ẞ", "İ", "ı", "K", "K", "Ω", "Ω", "①", "½", "ⅷ", "Ⅷ", "µ", "μ", "Å"),
    *("\u202egpj.exe", "a\u202db", "\u2066a\u2069", "\u200e", "\u200f", "\u061c", "\u2067x", "x\u202a"),
    *(
        "\u200b",
        "a\u200bb",
        "\u200c",
        "\u200d",
        "\ufeff",
        "\ufeffa",
        "\u00ad",
        "\u2060",
        "\u180e",
        "\u034f",
    ),
    *(
        "\u00a0",
        "\u2003",
        "\u3000",
        "\u2028",
        "\u2029",
        "a\u2028b",
        "\u1680",
        "\u205f",
        "\u202f",
        "\u2800",
    ),
    *(
        "／",
        "\u2215",
        "\u2044",
        "\u29f8",
        "．",
        "．．",
        "․․",
        "‥",
        "…",
        "＼",
        "：",
        "\u02d0",
        "＂",
        "%ef%bc%8f",
    ),
    *(
        "👍",
        "👨‍👩‍👧‍👦",
        "👍🏽",
        "🇨🇳",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "\U0001f1e6",
        "☃️",
        "𝕬",
        "𠜎",
        "文件",
        "ファイル",
        "파일",
        "ملف",
        "קובץ",
    ),
    *("Z̸̢̛͎a̷͇l̶̰g̴͍o̵̱", "a" + "\u0301" * 100, "\u0301"),
    *("\u0301a", "ก็็็็", "ཧ྅", "नमस्ते", "ไฟล์", "\u1ab0"),
    *(
        "\ud800",
        "a\udfffb",
        "\udc80",
        "\ud83d",
        "\ude00\ud83d",
        "\ufffe",
        "\uffff",
        "\U0010ffff",
        "\ufdd0",
    ),
    *(
        "\ue000",
        "\uf8ff",
        "\U000e0001",
        "\U000e0041",
        "\ufffc",
        "\ufffd",
        "\u0378",
        "\U0001fffe",
        "\u206a",
    ),
]
LENGTHS: Final = [
    *(
        char * length
        for char in ("a", "é", "文", "👍", "\u0958")
        for length in (127, 128, 254, 255, 256)
    ),
    *(
        "a" * 100_000,
        "e\u0301" * 255,
        "e\u0301" * 256,
        "." * 255,
        " " * 255,
        "%" * 255,
        '"' * 255,
        "'" * 255,
    ),
]


def nasty_names() -> list[str]:
    """Return the names, each once, filled up with random ones that are always the same."""
    names = list(dict.fromkeys([*SYNTAX, *FILE_SYSTEMS, *UNICODE, *LENGTHS]))
    random = _random_names()
    while len(names) < COUNT:
        names.append(next(random))
    return names


def may_be_a_name(name: str) -> bool:
    """Return whether the contract allows a name."""
    final = unicodedata.normalize("NFC", name)
    forbidden = any(char == "/" or unicodedata.category(char) in _REFUSED for char in final)
    seen = any(unicodedata.category(char) not in _UNSEEN and char not in _BLANKS for char in final)
    return seen and len(final) <= 255 and final not in (".", "..") and not forbidden


_REFUSED = ("Cc", "Cs", "Zl", "Zp")
_UNSEEN = (*_REFUSED, "Cf", "Zs")
_BLANKS = "\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5" + "".join(map(chr, range(0xFE00, 0xFE10)))


def _random_names() -> Iterator[str]:
    random = Random(1)
    while True:
        length = random.choice([1, 2, 5, 20])
        yield "".join(chr(random.randrange(0x110000)) for _ in range(length))


def in_order(names: Iterable[str]) -> list[str]:
    """Return names as lists have them."""
    return sorted(names, key=lambda name: (sort_key(name), name))
