"""After a fault: everything acknowledged is there exactly once."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from tests.faults.clients import Caller, Json
from tests.faults.ledger import Breach, Fault, File
from tests.faults.sites import Site
from tests.faults.traffic import User

_REUSE_SECONDS: Final = 105
"""Longer than ``tokens.refresh_reuse_seconds`` of each layout."""


_lost: Final = partial(Fault, Breach.LOST)
_doubled: Final = partial(Fault, Breach.DOUBLED)
_other: Final = partial(Fault, Breach.OTHER)


def judge(site: Site) -> list[Fault]:
    """Return the promises that were broken."""
    with ThreadPoolExecutor() as pool:
        # They take seconds to start.
        commands = [pool.submit(_judge_bytes, site), pool.submit(_judge_audit, site)]
        broken = list(site.ledger.violations)
        for user in site.users:
            broken += _judge_space(site, user)
        broken += _judge_accounts(site)
        for command in commands:
            broken += command.result()
    return broken


def _judge_space(site: Site, user: User) -> Iterator[Fault]:
    nodes = list(_all_nodes(user))
    names = Counter(node["name"] for node in nodes)
    yield from (
        _doubled(f"{name} is there {number} times") for name, number in names.items() if number > 1
    )
    files = [file for file in list(site.ledger.files) if file.tenant == user.tenant]
    by_id = {node["id"]: node for node in nodes}
    for file in files:
        yield from _judge_file(user, file, by_id, nodes)
    yield from _judge_usage(user, nodes)
    yield from _judge_feed(site, user, files, nodes)


def _judge_file(user: User, file: File, by_id: dict[str, Json], nodes: list[Json]) -> Iterator[Fault]:
    found = [node for node in nodes if node["name"] in file.names]
    if len(found) > 1:
        yield _doubled(f"{file.names} is stored {len(found)} times")
    if file.id is None:
        return
    if file.id not in by_id:
        yield _lost(f"{file.id} was acknowledged and is lost")
        return
    if by_id[file.id]["name"] not in file.names:
        yield _lost(f"{file.id} has the name {by_id[file.id]['name']}, not one of {file.names}")
    # Earlier files are still compared by fsck.
    if file.is_verified:
        return
    file.is_verified = True
    answer = user.caller.send("verify", "GET", f"{user.tenant}/files/{file.id}/download")
    if hashlib.sha256(answer.content).hexdigest() != file.digest:
        yield _lost(f"{file.id} has other bytes: {answer.status}")
    yield from _judge_grants(user, file)


def _judge_grants(user: User, file: File) -> Iterator[Fault]:
    path = f"{user.tenant}/files/{file.id}"
    if file.grants:
        listed = _list(user.caller, f"{path}/owners")
        owners = Counter(item["ownerId"] for item in listed)
        yield from (
            _lost(f"the grant of {other} at {file.id} is lost") for other in file.grants.keys() - owners
        )
        yield from (
            _doubled(f"{other} has {n} grants at {file.id}") for other, n in owners.items() if n > 1
        )
    if file.shares is not None:
        number = len(_list(user.caller, f"{path}/shares"))
        if number > 1 or (file.shares and not number):
            breach = _doubled if number > 1 else _lost
            yield breach(f"{file.id} has {number} shares, acknowledged: {file.shares}")


def _judge_usage(user: User, nodes: list[Json]) -> Iterator[Fault]:
    usage = _get(user.caller, f"{user.tenant}/usage")
    size = sum(node["size"] for node in nodes)
    if usage["liveBytes"] != size or usage["reservedBytes"]:
        yield _other(f"{user.tenant} has {size} bytes, and the usage is {usage}")


def _judge_feed(site: Site, user: User, files: list[File], nodes: list[Json]) -> Iterator[Fault]:
    changes, cursor, more = [], 0, True
    while more:
        page = _get(user.caller, f"{user.tenant}/changes?pageSize=200&cursor={cursor}")
        changes += page["data"]
        cursor, more = page["meta"]["cursor"], page["meta"]["hasMore"]
    sequences = [change["sequence"] for change in changes]
    if sequences != list(range(1, len(sequences) + 1)):
        yield _other(f"the feed of {user.tenant} has gaps or repetitions")
    created = Counter(change["fileId"] for change in changes if change["type"] == "file.created")
    expected = Counter(node["id"] for node in nodes)
    if created != expected:
        differing = (created - expected) + (expected - created)
        yield _other(f"{user.tenant}: created, and not in the feed once: {differing}")
    followed = site.ledger.feeds[user.tenant]
    if followed != sequences[: len(followed)]:
        yield _other(f"a client that followed {user.tenant} saw {followed} of {len(sequences)}")


def _judge_accounts(site: Site) -> Iterator[Fault]:
    anonymous = Caller(site.url, site.ledger)
    for email, is_acknowledged in list(site.ledger.registered.items()):
        if is_acknowledged:
            body = {"username": email, "password": "Correct1Horse"}
            if not anonymous.send("verify", "POST", "/authorizations", body).is_success:
                yield _lost(f"{email} was registered and cannot log in")
    site.ledger.registered = {}
    yield from _judge_refresh_tokens(site)


def _judge_refresh_tokens(site: Site) -> Iterator[Fault]:
    anonymous = Caller(site.url, site.ledger)
    used = site.ledger.used_refresh_tokens
    for token in [token for when, token in used if _is_past(when)][-20:]:
        body = {"refreshToken": token}
        if anonymous.send("verify", "POST", "/authorizations/refresh", body).is_success:
            yield _doubled("a refresh token was used twice")
    # The other ones are judged after the next fault. A token that comes back ends its login.
    site.ledger.used_refresh_tokens = [item for item in used if not _is_past(item[0])]
    for user in site.users:
        user.refresh_token = ""


def _is_past(used: float) -> bool:
    return time.monotonic() - used > _REUSE_SECONDS


def _judge_bytes(site: Site) -> list[Fault]:
    first = site.layout.instances[0]
    checked = site.command(first, "storage", "fsck", "--checksums", "--json", codes=(0, 1))
    # Bytes without a row are no loss: an upload that was not acknowledged left them.
    findings = [item for item in json.loads(checked)["findings"] if item["kind"] != "stray"]
    return [_other(f"fsck: {finding}") for finding in findings]


def _judge_audit(site: Site) -> list[Fault]:
    try:
        site.command(site.layout.instances[0], "audit", "verify")
    except AssertionError as error:
        return [_other(str(error)[:1500])]
    return []


def _all_nodes(user: User) -> Iterator[Json]:
    path: Any = f"{user.tenant}/owners/me/files?pageSize=200"
    page = 1
    while True:
        listing = _get(user.caller, f"{path}&pageNumber={page}")
        yield from listing["data"]
        if listing["meta"]["isLastPage"]:
            return
        page += 1


def _list(caller: Caller, path: str) -> list[Json]:
    items: list[Json] = _get(caller, f"{path}?pageSize=100")["data"]
    return items


def _get(caller: Caller, path: str) -> Json:
    for _ in range(5):
        answer = caller.send("verify", "GET", path)
        if answer.is_success:
            return answer.json()
        time.sleep(1)
    raise AssertionError((path, answer))
