"""The grams of texts: one to three adjacent characters, as 32-bit numbers.

- Texts of two characters are found in every script. The trigrams of SQLite's FTS5 and PostgreSQL's
  pg_trgm find no Chinese word of two characters, and words are not separated in Chinese.
- There are a hundred pairs of digits only, so each is in a tenth of all numbers. An index of numbers and
  addresses has triples of ASCII characters, too.
- A gram is stored as the CRC-32 of its scope and its characters. So each scope has its own posting
  lists, and the index is small. A collision costs a candidate too many only.
"""

import zlib
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise, repeat
from typing import Final

MAX_GRAMS: Final = 6
"""Number of grams of a search: each further one costs more than the candidates that it excludes."""

_INT32: Final = 1 << 31


@dataclass(slots=True, eq=False, repr=False)
class Grams:
    """The grams of one index.

    Args:
        common: characters without a gram of their own, because many texts contain them.
        has_triples: whether three adjacent ASCII characters have a gram.
    """

    _common: frozenset[str] = frozenset()
    _: KW_ONLY
    has_triples: bool = False

    def of_row(self, scope: str, folded: str) -> set[int]:
        """Return the grams of a folded text as unsigned 32-bit numbers."""
        singles = set(folded) - self._common
        return _numbers(scope, {*singles, *_pairs(folded), *self._triples(folded)})

    def of_search(self, scope: str, folded: str) -> set[int]:
        """Return grams that each text with this part has; none if only reading the texts finds it."""
        if len(folded) == 1:
            return set() if folded in self._common else _numbers(scope, {folded})
        pieces = self._triples(folded)
        covered = {pair for triple in pieces for pair in _pairs(triple)}
        pieces += [pair for pair in _pairs(folded) if pair not in covered]
        if len(pieces) > MAX_GRAMS:
            last = len(pieces) - 1
            pieces = [pieces[number * last // (MAX_GRAMS - 1)] for number in range(MAX_GRAMS)]
        return _numbers(scope, set(pieces))

    def _triples(self, folded: str) -> list[str]:
        if not self.has_triples:
            return []
        windows = map("".join, zip(folded, folded[1:], folded[2:], strict=False))
        return [*filter(str.isascii, windows)]


def as_array(grams: set[int]) -> list[int]:
    """Return grams as PostgreSQL stores them: signed integers of 32 bits."""
    return [gram - _INT32 for gram in sorted(grams)]


def as_document(grams: set[int]) -> str:
    """Return grams as SQLite's FTS5 stores them: words."""
    return " ".join(f"{gram:x}" for gram in grams)


def as_fts_query(grams: set[int]) -> str:
    """Return the FTS5 query for the documents that have all grams."""
    return " AND ".join(f'"{gram:x}"' for gram in sorted(grams))


def _pairs(folded: str) -> list[str]:
    return [*map("".join, pairwise(folded))]


def _numbers(scope: str, pieces: set[str]) -> set[int]:
    start = zlib.crc32(scope.encode())
    # Hot: reindexing spends half of its time here, so no Python code runs per piece.
    return set(map(zlib.crc32, map(str.encode, pieces), repeat(start)))
