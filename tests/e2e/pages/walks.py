"""Walks through pages in each language, colour scheme and width, with and without scripts."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from playwright.sync_api import Browser

from tests.support.browser_pages import LOCALES, Walk
from tests.support.browsers import needs_chromium
from tests.support.screens import AREAS, NAMES, Area
from tests.support.screens.stage import Stage

Stages = Callable[[Area], Stage]


class PageWalks:
    """Inspects the screens of some areas."""

    areas: ClassVar[tuple[str, ...]]
    """Names in the table of all pages."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Test each area."""
        if "name" in metafunc.fixturenames:
            metafunc.parametrize("name", self.areas)

    @pytest.fixture(scope="class")
    @classmethod
    def shared_stages(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stages]:
        """Return the stage of an area, which areas with the same kind of server share."""
        stages: dict[object, Stage] = {}
        with ExitStack() as servers:

            def stage_of(area: Area) -> Stage:
                if area.stage not in stages:
                    folder = tmp_path_factory.mktemp("server")
                    stages[area.stage] = servers.enter_context(area.stage(folder))
                return stages[area.stage]

            yield stage_of

    @pytest.mark.extended
    @needs_chromium
    @pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no-scripts"])
    @pytest.mark.parametrize("language", LOCALES)
    def test_each_page_is_usable(
        self,
        browser: Browser,
        shared_stages: Stages,
        tmp_path: Path,
        name: str,
        language: str,
        has_scripts: bool,
    ) -> None:
        area = AREAS[name]
        with _stage_for(area, tmp_path, shared_stages) as stage:
            walk = Walk(browser, stage.origin, language, stage, has_scripts, NAMES, stage.partners)
            for screen in area.screens:
                walk.inspect(screen)
        assert not walk.faults, "\n".join(walk.faults)


@contextmanager
def _stage_for(area: Area, folder: Path, shared_stages: Stages) -> Iterator[Stage]:
    if area.is_fresh:
        with area.stage(folder) as stage:
            yield stage
    else:
        yield shared_stages(area)
