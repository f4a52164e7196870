"""An export proves what the server exported: any change of the file shows."""

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.unit.activity.audit.conftest import Record

from strongroom.activity.audit.verifier import ChainBroken
from strongroom.extensions.audit_exports.export import (
    AuditExport,
    Checkpoint,
    ExportRange,
    verify_export,
)
from strongroom.foundation.database import Database
from strongroom.identity.sessions.checkpoints import parse_key_set, read_checkpoint, sign_checkpoint
from strongroom.identity.sessions.signing_keys import KeyRing, generate_key
from strongroom.testing.clock import ManualClock

RING = KeyRing("RS256", [generate_key("RS256", 0)])
OTHER = KeyRing("RS256", [generate_key("RS256", 0)])
SECRET = KeyRing("HS256", [generate_key("HS256", 0)])
RECORDS = 10
ISSUER = "https://files.example.com"
EXPORT_AND_PRINT_PEAK = """
import sys
from pathlib import Path
from strongroom.extensions.audit_exports.export import AuditExport
from strongroom.clock import SystemClock
from strongroom.foundation.database import Database
export = AuditExport(Database(sys.argv[1]), SystemClock(), "https://a.example", lambda content: "-")
lines = sum(1 for _ in export.lines(export.find(None, None)))
print(lines, Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""

Change = Callable[[list[str]], list[str]]


def export_of(database: Database, clock: ManualClock, ring: KeyRing = RING) -> AuditExport:
    return AuditExport(database, clock, ISSUER, lambda content: sign_checkpoint(ring, content))


def exported(
    database: Database, clock: ManualClock, since: int | None = None, until: int | None = None
) -> list[str]:
    export = export_of(database, clock)
    return list(export.lines(export.find(since, until)))


def verified(lines: list[str], ring: KeyRing = RING) -> Checkpoint:
    keys = parse_key_set(json.dumps(ring.public_set()))
    return verify_export(lines, lambda signed: read_checkpoint(keys, signed))


def test_an_export_is_verified_with_the_public_keys_alone(
    database: Database, clock: ManualClock, record: Record
) -> None:
    record(RECORDS)
    lines = exported(database, clock)
    checkpoint = verified(lines)
    assert len(lines) == RECORDS + 2
    assert (checkpoint.issuer, checkpoint.records) == (ISSUER, RECORDS)
    assert checkpoint.previous.startswith("0:")
    assert checkpoint.last.startswith(f"{RECORDS}:")


def test_a_part_of_the_chain_continues_the_part_before(
    database: Database, clock: ManualClock, record: Record
) -> None:
    record(3)
    clock.advance(1000)
    middle = clock.now()
    record(4)
    clock.advance(1000)
    end = clock.now()
    record(2)
    first, second = exported(database, clock, until=middle), exported(database, clock, middle, end)
    assert (verified(first).records, verified(second).records) == (3, 4)
    assert verified(first).last == verified(second).previous
    assert verified(exported(database, clock, clock.now() + 1)).records == 0


def test_an_empty_record_has_a_checkpoint(database: Database, clock: ManualClock) -> None:
    assert verified(exported(database, clock)).records == 0


def changed(old: str, new: str) -> Change:
    return lambda lines: [line.replace(old, new) for line in lines]


def without(*numbers: int) -> Change:
    return lambda lines: [line for number, line in enumerate(lines) if number not in numbers]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(changed('"outcome":"success"', '"outcome":"failure"'), id="changed"),
        pytest.param(without(5), id="removed"),
        pytest.param(without(1), id="first removed"),
        pytest.param(without(RECORDS), id="last removed"),
        pytest.param(without(RECORDS + 1), id="no checkpoint"),
        pytest.param(without(0), id="no first line"),
        pytest.param(lambda lines: lines[:6], id="truncated"),
        pytest.param(lambda _lines: [], id="empty"),
        pytest.param(lambda lines: [*lines, lines[1]], id="appended"),
        pytest.param(lambda lines: [*lines, lines[-1]], id="second checkpoint"),
        pytest.param(lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], id="swapped"),
        pytest.param(changed('"details":', '"traceparent":"x","details":'), id="further member"),
        pytest.param(changed('"action":', '"action":1,"x":'), id="renamed member"),
        pytest.param(lambda lines: [*lines[:-1], "[]"], id="no object"),
        pytest.param(lambda lines: [*lines[:-1], '{"checkpoint":"a.b.c"}'], id="no signature"),
        pytest.param(lambda lines: [*lines[:-1], '{"checkpoint":null}'], id="null signature"),
    ],
)
def test_a_changed_file_is_refused(
    database: Database, clock: ManualClock, record: Record, change: Change
) -> None:
    record(RECORDS)
    lines = exported(database, clock)
    with pytest.raises((ChainBroken, ValueError)):
        verified(change(lines))


def test_a_checkpoint_of_another_server_is_refused(
    database: Database, clock: ManualClock, record: Record
) -> None:
    record(RECORDS)
    export = export_of(database, clock, OTHER)
    with pytest.raises(ValueError, match="there is no key"):
        verified(list(export.lines(export.find(None, None))))


def test_a_checkpoint_of_other_records_is_refused(
    database: Database, clock: ManualClock, record: Record
) -> None:
    record(3)
    older = exported(database, clock)
    record(1)
    newer = exported(database, clock)
    with pytest.raises(ValueError, match="other records"):
        verified([*newer[:-1], older[-1]])


def test_an_access_token_is_no_checkpoint(database: Database, clock: ManualClock) -> None:
    from joserfc import jwt

    header = {"alg": "RS256", "kid": RING.signing_key.kid, "typ": "at+jwt"}
    token = jwt.encode(header, {"records": 0}, RING.signing_key, algorithms=["RS256"])
    with pytest.raises(ValueError, match="not a checkpoint's"):
        read_checkpoint(RING.keys, token)


def test_a_public_key_is_no_hmac_key() -> None:
    # Algorithm confusion: the checkpoint names HS256, with the public RSA key.
    signed = sign_checkpoint(SECRET, {"records": 0})
    key = generate_key("RS256", 0)
    assert read_checkpoint(SECRET.keys, signed) == {"records": 0}
    with pytest.raises(ValueError, match="there is no key"):
        read_checkpoint([key], signed)


def test_a_broken_chain_has_no_checkpoint(
    database: Database, clock: ManualClock, record: Record
) -> None:
    record(RECORDS)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE audit_events SET action = 'x' WHERE sequence = 5")
    lines: list[str] = []
    with pytest.raises(ChainBroken):
        lines.extend(export_of(database, clock).lines(ExportRange(1, RECORDS)))
    assert not any("checkpoint" in line for line in lines)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_memory_does_not_grow_with_the_export(
    database: Database, database_url: str, record: Record
) -> None:
    peaks = []
    for count in (100, 3000):
        record(count)
        command = [sys.executable, "-c", EXPORT_AND_PRINT_PEAK, database_url]
        lines, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        peaks.append(int(peak))
        assert int(lines) >= count
    assert peaks[1] - peaks[0] < 10_000
