"""The factor fulfils the contract of second factors."""

from typing import Any

import pytest
from strongroom_grid_card.plugin import COLUMNS, ROWS, GridCard

from strongroom.plugin_api import NoOptions
from strongroom.testing.factors import Device, SecondFactorContract


class Card(Device):
    """A printed card."""

    def __init__(self) -> None:
        self._cards: list[list[list[str]]] = []

    def enrol(self, shown: dict[str, Any]) -> str:
        self._cards.append(shown["card"])
        return self.read(shown["grid"])

    def answer(self, shown: dict[str, Any], enrolled: dict[str, Any]) -> str:
        return self.read(shown["grid"])

    def read(self, grid: str) -> str:
        card = self._cards[-1]
        places = map(tuple, grid.split())
        return " ".join(card[ROWS.index(row)][COLUMNS.index(column)] for column, row in places)


class TestGridCard(SecondFactorContract):
    @pytest.fixture
    def factor(self) -> GridCard:
        return GridCard(NoOptions())

    @pytest.fixture
    def device(self) -> Card:
        return Card()
