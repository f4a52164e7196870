"""Searches in names of six scripts, compared with a search in plain Python."""

import json
import unicodedata
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from tests.support.api import Api
from tests.support.campaign import campaign_size
from tests.support.upload_fixtures import IncomingBytes

from strongroom.content.files.grants import GrantRequest, GrantService
from strongroom.content.files.moving import Move, MovingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import Permission
from strongroom.content.nodes.node_filters import NodeFilter, NodeOrder, SortKey
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.search import scope as search_scope
from strongroom.extensions.search import service as search
from strongroom.extensions.search.service import FileSearch, NodeSearch
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import NameConflict

SCRIPTS = (
    "Quarterly REPORT final_v2 (draft) naïve Straße İstanbul",
    "总结报告张三李四合同项目计划会议年月日",
    "Отчёт за квартал ДОГОВОР проект",
    "تقرير الربع السنوي مشروع عقد",
    "サンプル報告書ﾃｽﾄ 한국어 보고서 분기",
    "รายงานไตรมาส โครงการ 👩‍👩‍👧 😀",
)
QUERIES = campaign_size("SEARCH_QUERIES", 400)
NODES = max(campaign_size("SEARCH_NODES", 120), 40)


@dataclass
class Item:
    """A node as the model knows it, in the order of its naming."""

    id: str
    parent: str | None
    name: str
    named: int
    size: int


def fold(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


class Corpus:
    """A tenant with an administrator, two members, and nodes with names of all scripts."""

    def __init__(self, api: Api, random: Random) -> None:
        self.services = api.container
        self.random = random
        self.people = [Identity(api.person().id, "USER", "login") for _ in range(3)]
        self.admin = self.people[0]
        self.tenant = self.services.get(TenantService).create(self.admin, "Acme", Origin()).id
        for member in self.people[1:]:
            self.services.get(TenantService).put_member(
                self.admin, self.tenant, member.user_id, Role.MEMBER, Origin()
            )
        self.items: dict[str, Item] = {}
        self.granted: dict[str, set[str]] = {member.user_id: set() for member in self.people[1:]}
        self.named = 0

    def name(self) -> str:
        pieces = [self.piece(self.random.randint(1, 6)) for _ in range(self.random.randint(1, 3))]
        return unicodedata.normalize("NFC", " ".join(pieces).strip() or "x")

    def piece(self, length: int) -> str:
        script = self.random.choice(SCRIPTS)
        start = self.random.randrange(len(script))
        return script[start : start + length]

    def folders(self) -> list[str | None]:
        return [None, *(item.id for item in self.items.values() if item.size < 0)]

    def grow(self, count: int) -> None:
        for _ in range(count):
            parent, name = self.random.choice(self.folders()), self.name()
            size = self.random.randrange(4) if self.random.random() < 0.7 else -1
            try:
                if size < 0:
                    view = self.services.get(FileService).create_folder(
                        self.admin, self.tenant, parent, name, OnConflict.FAIL
                    )
                else:
                    incoming = IncomingBytes(name, b"x" * size)
                    view = self.services.get(FileService).upload(
                        self.admin, self.tenant, parent, incoming, OnConflict.FAIL
                    )
            except NameConflict:
                continue
            self.named += 1
            node = view.node
            self.items[node.id] = Item(node.id, parent, node.name, self.named, size)

    def change(self) -> None:
        """Grant, rename, move and delete some nodes."""
        self.grant()
        self.rename()
        files = [item for item in self.items.values() if item.size >= 0]
        self.move(self.random.sample(files, 8))
        for item in self.random.sample(files, 4):
            self.services.get(FileService).delete(self.admin, self.tenant, item.id)
            del self.items[item.id]

    def grant(self) -> None:
        for member in self.people[1:]:
            for item in self.random.sample([*self.items.values()], 5):
                wish = GrantRequest(member.user_id, Permission.READ, None)
                self.services.get(GrantService).put(self.admin, self.tenant, item.id, wish, Origin())
                self.granted[member.user_id].add(item.id)

    def rename(self) -> None:
        for item in self.random.sample([*self.items.values()], 10):
            name = self.name()
            try:
                self.services.get(MovingService).rename(self.admin, self.tenant, item.id, name, None)
            except NameConflict:
                continue
            if name != item.name:
                self.named += 1
                item.name, item.named = name, self.named

    def move(self, files: list[Item]) -> None:
        for item in files:
            parent = self.random.choice(self.folders())
            try:
                self.services.get(MovingService).move(
                    self.admin, self.tenant, item.id, Move(parent, None), None
                )
            except NameConflict:
                continue
            item.parent = parent

    def around(self, item: Item) -> list[str]:
        parent = self.items.get(item.parent or "")
        return [item.id, *(self.around(parent) if parent else [])]

    def expected(self, user: Identity, wanted: NodeSearch) -> list[str]:
        """Return the names' nodes by reading all of them."""

        def is_found(item: Item) -> bool:
            around = self.around(item)
            is_seen = user is self.admin or self.granted[user.user_id] & set(around)
            kind = "folder" if item.size < 0 else "file"
            return bool(
                is_seen
                and fold(wanted.text) in fold(item.name)
                and wanted.parent_id in (None, *around[1:])
                and wanted.filter.type in (None, kind)
                and max(item.size, 0) >= (wanted.filter.min_size or 0)
            )

        found = sorted(filter(is_found, self.items.values()), key=lambda item: -item.named)
        found = found[: search.MAX_HITS]
        return [item.id for item in sorted(found, key=lambda item: (sort_key(item.name), item.id))]

    def wanted(self, user: Identity) -> NodeSearch:
        """Return a random search, mostly for a part of a name."""
        item = self.random.choice([*self.items.values()])
        start, length = self.random.randrange(len(item.name)), self.random.choice([1, 2, 2, 3, 5, 20])
        text = item.name[start : start + length] if self.random.random() < 0.9 else self.piece(2)
        folders = [folder for folder in self.folders() if folder and self.sees(user, folder)]
        parent = self.random.choice(folders) if folders and self.random.random() < 0.3 else None
        kind = self.random.choice([None, None, None, "file", "folder"])
        size = self.random.choice([None, None, None, 2])
        text = self.random.choice([text, text.upper(), unicodedata.normalize("NFKD", text)])
        return NodeSearch(text, parent, NodeFilter(type=kind, min_size=size), NodeOrder(SortKey.NAME))

    def sees(self, user: Identity, folder: str) -> bool:
        item = self.items[folder]
        return user is self.admin or bool(self.granted[user.user_id] & set(self.around(item)))

    def find(self, user: Identity, wanted: NodeSearch) -> tuple[list[str], int]:
        records: list[dict[str, Any]] = []
        number, total = 1, 1
        while len(records) < total:
            page = self.services.get(FileSearch).search(user, self.tenant, wanted, Paging(number, 7))
            total, number = page.total, number + 1
            assert page.records or not total
            records += map(json.loads, page.records)
        return [record["id"] for record in records], total


def clear_statements() -> None:
    """Forget statements that contain limits."""
    search._candidates.cache_clear()
    search_scope._extent_statement.cache_clear()


@pytest.mark.parametrize("bounds", ["usual", "few nodes", "few folders", "many folders"])
def test_searches_match_reading_all_names(
    api: Api, bounds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bounds in ("few folders", "many folders"):
        monkeypatch.setattr(search, "_FEW_NODES", 0)
    if bounds == "many folders":
        monkeypatch.setattr(search_scope, "MAX_FOLDERS", 2)
    if bounds != "usual":
        # Several batches, results that are cut off, and texts that count as frequent.
        monkeypatch.setattr(search, "MAX_HITS", 5)
        monkeypatch.setattr(search, "_BATCH", 3)
        monkeypatch.setattr("strongroom.foundation.database.text_index.SAMPLE", 50)
        # On SQLite, some of the names are indexed, and some are not yet.
        monkeypatch.setattr("strongroom.foundation.database.text_index.BLOCK", 64)
        clear_statements()
    corpus = Corpus(api, Random(7))
    corpus.grow(NODES)
    corpus.change()
    corpus.grow(NODES // 10)
    found, queries = 0, QUERIES if bounds == "usual" else QUERIES // 4
    for number in range(queries):
        user = corpus.people[number % 3]
        wanted = corpus.wanted(user)
        ids, total = corpus.find(user, wanted)
        assert (ids, total) == (corpus.expected(user, wanted), len(ids)), wanted
        found += len(ids)
    clear_statements()
    assert found > queries // 3
