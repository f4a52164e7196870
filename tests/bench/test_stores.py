"""The bench of object stores counts what arrives, and compares like with like."""

import pytest
from bench import stores
from bench.harness import MEBIBYTE, Plan
from bench.stores import count_requests, measure, oss_backend, s3_backend, stub_s3

ONE_EACH = {"upload 1 MiB": 1, "read 1 KiB out of 100 MiB": 1, "stat": 1, "delete": 1}


def test_each_operation_is_one_request_to_s3() -> None:
    with stub_s3() as (endpoint, arrived), s3_backend(endpoint) as backend:
        assert count_requests(backend, arrived) == ONE_EACH


def test_each_operation_is_one_request_to_oss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "LARGE", 12 * MEBIBYTE)
    with oss_backend() as (backend, arrived):
        assert count_requests(backend, arrived) == ONE_EACH


def test_both_sides_move_the_same() -> None:
    rows = measure(Plan(rounds=1, transfer_bytes=20 * MEBIBYTE))
    assert [row.name for row in rows] == [
        "upload 20 MiB",
        "download 20 MiB",
        "upload 20 MiB: memory",
        "download 20 MiB: memory",
        "first byte of 1 GiB",
    ]
    assert all(row.ratio is not None and row.ratio.low > 0 for row in (*rows[:2], rows[-1]))
