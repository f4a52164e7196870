"""The harness computes rightly, and each bench runs from end to end."""

import json
import os
import select
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bench import (
    bundles,
    busy,
    details,
    directories,
    downloads,
    drives,
    encryption,
    endurance,
    lists,
    login,
    nginx,
    orders,
    pages,
    passkeys,
    provider,
    releases,
    remote_bundles,
    scaling,
    searches,
    sizes,
    startup,
    transfer,
    trees,
    uploads,
    users,
    writes,
)
from bench.__main__ import BENCHES, Bench, is_complete, main, measured
from bench.client import Client
from bench.forms import raw_headers
from bench.harness import MEBIBYTE, QUICK, Limit, Plan, Row, Spread, interleave
from bench.load import Load, build_request, compare, generate, latencies
from bench.report import as_json, markdown, table
from bench.servers import bare_flask, strongroom
from bench.usage import forget_peak, peak_bytes, processes, processor_seconds, resident_bytes

pytestmark = pytest.mark.extended

LIMIT = f"bare bcrypt, {os.cpu_count()} threads"


def test_contenders_alternate_after_one_warm_up() -> None:
    turns: list[str] = []

    def contender(name: str) -> Callable[[], int]:
        def measure_once() -> int:
            turns.append(name)
            return len(turns)

        return measure_once

    figures = interleave(2, contender("a"), contender("b"), contender("c"))

    assert turns == ["a", "b", "c"] * 3
    assert figures == [[4, 7], [5, 8], [6, 9]]


def test_rows_are_printed_as_soon_as_they_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []

    def measure(name: str) -> Bench:
        def measure_once(_plan: Plan) -> list[Row]:
            shown.append(capsys.readouterr().err)
            return [Row(name, "/s", [10.0], Limit("limit", [20.0]))]

        return measure_once

    monkeypatch.setattr("bench.__main__.BENCHES", {name: measure(name) for name in ("one", "two")})
    rows, failed = measured(["one", "two"], QUICK)
    assert failed == []
    assert [row.name for row in rows] == ["one", "two"]
    assert shown == ["one (1 of 2) ...\n", "  one: 10.0 /s; limit: 20.0 /s\ntwo (2 of 2) ...\n"]


def test_a_bench_that_breaks_is_repeated_and_costs_no_other_its_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[str] = []

    def measure(name: str, failures: int) -> Bench:
        def measure_once(_plan: Plan) -> list[Row]:
            calls.append(name)
            if calls.count(name) <= failures:
                raise OSError("busy")
            return [Row(name, "/s", [10.0])]

        return measure_once

    benches = {"broken": measure("broken", 9), "busy": measure("busy", 1), "good": measure("good", 0)}
    monkeypatch.setattr("bench.__main__.BENCHES", benches)
    rows, failed = measured(list(benches), QUICK)
    assert ([row.name for row in rows], failed) == (["busy", "good"], ["broken"])
    assert calls == ["broken", "broken", "busy", "busy", "good"]
    assert "OSError: busy" in capsys.readouterr().err


def test_a_quick_run_prints_its_table_and_leaves_the_results_of_the_documentation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plans: list[Plan] = []

    def measure(plan: Plan) -> list[Row]:
        plans.append(plan)
        return [Row("login", "/s", [10.0])]

    monkeypatch.setattr("bench.__main__.BENCHES", {"login": measure})
    monkeypatch.setattr("bench.__main__.RESULTS", tmp_path)
    monkeypatch.setattr("bench.__main__.signal.signal", lambda *_: None)
    for arguments, written in ((["--quick"], False), (["--files", "10"], False), ([], True)):
        monkeypatch.setattr("sys.argv", ["bench", *arguments])
        main()
        assert "login" in capsys.readouterr().out
        assert (tmp_path / "latest.md").exists() == is_complete(plans[-1]) == written
    assert plans[0] == QUICK


def test_a_spread_is_the_median_between_the_extremes() -> None:
    assert Spread.of([9.0, 1.0, 2.0]) == Spread(2.0, 1.0, 9.0)
    assert Spread.of([4.0, 1.0, 2.0, 3.0]) == Spread(2.5, 1.0, 4.0)


def test_a_ratio_is_formed_round_by_round() -> None:
    # The medians alone, 20 and 20, would give 1.
    row = Row("path", "/s", [10.0, 20.0, 30.0], Limit("limit", [20.0, 80.0, 20.0]))
    assert row.ratio == Spread(0.5, 0.25, 1.5)


def test_the_ratio_of_a_cost_is_less_when_the_cost_is_more() -> None:
    row = Row("path", "ms", [4.0, 2.0, 8.0], Limit("limit", [1.0, 1.0, 1.0]), is_cost=True)
    assert row.ratio == Spread(0.25, 0.125, 0.5)


def test_loads_are_compared_by_speed_and_by_cost() -> None:
    loads, limits = [Load(20, 2.0, 1.0)], [Load(80, 2.0, 0.5)]
    speed, cost = compare("path", loads, {"limit": limits})
    assert (speed.values, speed.ratio) == ([10.0], Spread(0.25, 0.25, 0.25))
    assert (cost.values, cost.ratio) == ([50.0], Spread(0.125, 0.125, 0.125))


def test_a_commit_is_compared_by_pairs_of_fresh_servers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pairs = iter([[[Load(10, 1.0, 1.0)] * 2, [Load(10, 1.0, 2.0)] * 2], [[Load(20, 1.0, 1.0)]] * 2])
    monkeypatch.setattr("bench.trees._measure_pair", lambda *_: next(pairs))
    plan = Plan(pairs=2)
    workload = next(each for each in trees.WORKLOADS if each.bench == "details")
    monkeypatch.setattr("bench.trees.WORKLOADS", [workload])
    speed, cost = trees.measure(plan, tmp_path / "v1", ["details"])
    assert (cost.limit and cost.limit.name, cost.values) == ("v1", [100.0, 50.0])
    assert (cost.ratio, speed.ratio) == (Spread(1.5, 1.0, 2.0), Spread(1.0, 1.0, 1.0))


def test_the_last_release_is_the_nearest_tag_of_a_version(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        subprocess.run(["git", *identity, "-C", tmp_path, *arguments], check=True, capture_output=True)

    git("init")
    for tag in ("v0.1.0", "v0.2.0", "nightly"):
        git("commit", "--allow-empty", "--message", tag)
        assert releases.last_release(tmp_path) == {"v0.1.0": None, "v0.2.0": "v0.1.0"}.get(tag, "v0.2.0")
        git("tag", tag)
    assert releases.last_release(tmp_path) == "v0.2.0"


def test_a_folder_is_a_version_that_is_installed_already(tmp_path: Path) -> None:
    with releases.installed(str(tmp_path)) as checkout:
        assert checkout == tmp_path
    with pytest.raises(subprocess.CalledProcessError), releases.installed("no-such-commit"):
        pytest.fail("there is no such commit")


def test_without_a_limit_there_is_no_ratio() -> None:
    assert Row("path", "MiB", [1.0]).ratio is None


def test_the_table_shows_medians_and_ratios() -> None:
    rows = [
        Row("login", "/s", [10.0, 30.0, 20.0], Limit("bare", [40.0, 40.0, 40.0])),
        Row("memory", "MiB", [1234.0]),
    ]
    assert table(rows).splitlines() == [
        "|        | Strongroom | reference |      | ratio | spread       |",
        "| ------ | ---------- | --------- | ---- | ----- | ------------ |",
        "| login  | 20.0 /s    | 40.0 /s   | bare | 0.50  | 0.25 to 0.75 |",
        "| memory | 1,234 MiB  | -         |      | -     | -            |",
    ]


def test_the_json_holds_every_figure() -> None:
    row = Row("login", "/s", [1.0, 3.0], Limit("bare", [4.0, 4.0]))
    document = json.loads(as_json([row], QUICK))
    assert document["plan"]["rounds"] == 1
    (record,) = document["rows"]
    assert record["values"] == [1.0, 3.0]
    assert record["limit"] == {"name": "bare", "values": [4.0, 4.0]}
    assert record["ratio"] == {"median": 0.5, "low": 0.25, "high": 0.75}


def test_the_report_says_how_to_read_it() -> None:
    text = markdown([Row("login", "/s", [1.0])], QUICK)
    assert text.startswith("Medians of 1 rounds")
    assert text.endswith("|\n")


@pytest.mark.parametrize(
    ("measure", "name", "others"),
    [
        (
            login.measure,
            "login, bcrypt cost 10, 8 clients",
            ["PocketBase", f"bare bcrypt, {os.cpu_count()} threads"],
        ),
        (
            passkeys.measure,
            "passkey login, 2 clients",
            ["password login, bcrypt cost 10", "PocketBase"],
        ),
        (details.measure, "details of a file, 32 clients", ["PocketBase", "bare Flask route"]),
    ],
)
def test_a_bench_compares_with_its_peer_and_its_limit(
    measure: Bench, name: str, others: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each client is another user, whom a command creates.
    monkeypatch.setattr(passkeys, "CLIENTS", 2)
    rows = measure(QUICK)
    # Details have two more rows, with request hooks of plugins.
    assert [row.name for row in rows[:4]] == [name, f"{name}: processor time"] * 2
    assert [row.limit.name for row in rows[:4:2] if row.limit] == others
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_logins_through_the_provider_are_compared_with_a_bare_route(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(provider, "CLIENTS", 2)
    among_others, *rows = provider.measure(QUICK)
    assert (among_others.unit, among_others.limit) == ("/s", Limit("target", [100]))
    names = ("login through the provider", "token endpoint: refresh", "introspection")
    assert [row.name for row in rows[::2]] == [f"{name}, 2 clients" for name in names]
    assert {row.limit.name for row in rows if row.limit} == {"bare Flask route"}


def test_downloads_are_compared_with_the_peer_and_with_nginx_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(downloads, "DOWNLOADS", downloads.DOWNLOADS[:1])
    rows = downloads.measure(QUICK)
    others = {row.limit.name for row in rows if row.limit}
    assert others == {"PocketBase", *(["nginx"] if nginx.is_installed() else [])}
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_a_page_is_compared_with_the_peers() -> None:
    rows = pages.measure(QUICK)
    assert {row.limit.name for row in rows if row.limit} == {"PocketBase", "plain"}
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_details_are_timed_while_others_log_in() -> None:
    rows = busy.measure(QUICK)
    assert [row.unit for row in rows] == ["ms", "ms"]
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_small_uploads_are_compared_both_as_forms_and_raw() -> None:
    rows = uploads.measure(QUICK)
    assert {row.name.partition(":")[0] for row in rows} == {
        "upload 1 KiB, 8 clients, multipart",
        "upload 1 KiB, 8 clients, raw",
    }
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_a_start_is_timed_and_weighed() -> None:
    rows = startup.measure(QUICK)
    assert [row.unit for row in rows] == ["ms", "ms", "MiB", "MiB"]
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_pages_of_a_large_tenant_are_compared_with_those_of_a_small_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lists, "FEW", 1500)
    rows = lists.measure(QUICK)
    assert [row.unit for row in rows] == ["ms"] * 6
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_searches_are_timed_for_five_users_and_deep_pages_in_eight_orders() -> None:
    rows = searches.measure(QUICK)
    names = [row.name for row in rows]
    # The wall time and the processor time.
    assert sum("200 searches of" in name for name in names) == 2 * 5 * 2
    assert sum("nodes by `" in name for name in names) == 2 * 8
    assert all(row.ratio is None or row.ratio.low > 0 for row in rows)


def test_lists_of_users_are_timed_for_each_kind_of_text_and_three_pages() -> None:
    rows = users.measure(QUICK)
    kinds, pages = 8 + 3, 3
    assert len(rows) == 2 * 2 * 2 * (kinds + pages)
    assert all(value > 0 for row in rows for value in row.values)


def test_memory_and_descriptors_are_measured_under_mixed_load() -> None:
    assert sum(endurance.WEIGHTS.values()) == 100
    rate, memory, descriptors = endurance.measure(QUICK)
    assert rate.values[0] > 0
    assert [row.unit for row in (memory, descriptors)] == ["MiB", ""]
    assert all(row.ratio is not None and row.ratio.low > 0 for row in (memory, descriptors))
    # Each process has its libraries, and standard input and output.
    assert memory.values[0] > 50
    assert descriptors.values[0] > 20


def test_sizes_are_measured_of_tables_and_of_each_index() -> None:
    rows = {row.name.partition(",")[0]: row.values[0] for row in sizes.measure(QUICK)}
    assert {"table nodes", "index pk_nodes", "table users", "index ix_user_search_grams"} <= rows.keys()
    assert all(value > 0 for value in rows.values())
    # A row of a file is some hundred bytes.
    assert 200 < rows["table nodes"] < 2000


def test_lists_are_timed_for_four_users_in_sixteen_orders_on_three_pages() -> None:
    rows = orders.measure(QUICK)
    # Each with and without folders first.
    assert len(rows) == 2 * 4 * 8 * 3 * 2
    assert all(value > 0 for row in rows for value in row.values)


def test_a_bundle_is_compared_with_zip_and_weighed() -> None:
    speed, memory = bundles.measure(QUICK)
    assert (speed.unit, memory.unit, memory.limit) == ("MiB/s", "MiB", None)
    assert len(speed.values) == len(memory.values) == QUICK.rounds
    assert (speed.ratio is not None) == (shutil.which("zip") is not None)


def test_a_bundle_of_remote_files_is_compared_with_boto3_and_its_memory_measured() -> None:
    speed, memory = remote_bundles.measure(QUICK)
    assert (speed.unit, memory.unit, memory.limit) == ("MiB/s", "MiB", None)
    assert speed.ratio is not None
    assert speed.ratio.low > 0


def test_as_many_processes_as_cores_are_compared_with_one() -> None:
    rate, cost = scaling.measure(QUICK)
    assert (rate.unit, cost.unit) == ("/s", "ms")
    assert rate.ratio is not None
    assert rate.ratio.low > 0


def test_changes_by_several_processes_are_compared_with_those_by_one() -> None:
    rows = writes.measure(QUICK)
    assert len(rows) == 4 * (len(writes.PROCESSES) - 1)
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_transfers_are_compared_with_a_copy_a_hash_and_the_peer_and_weighed() -> None:
    rows = transfer.measure(QUICK)
    assert [row.unit for row in rows] == ["MiB/s"] * 5 + ["MiB"] * 3
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows[:5])
    assert all(len(row.values) == QUICK.rounds for row in rows)


def test_drives_are_compared_with_raw_uploads_and_with_rclone() -> None:
    rows = drives.measure(QUICK)
    references = [drives.RAW, drives.PEER][: 1 + (shutil.which("rclone") is not None)]
    of_rows = [row.limit.name for row in rows if row.limit]
    assert of_rows == [name for name in references for _ in range(2)] + references
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_encrypted_transfers_are_compared_with_plain_ones_over_each_store() -> None:
    rows = encryption.measure(QUICK)
    assert [row.name.split()[0] for row in rows] == ["upload", "download"] * 2
    assert all(row.ratio is not None and row.ratio.low > 0 for row in rows)


def test_a_directory_synchronizes_twice_and_the_second_time_changes_nothing() -> None:
    rows = directories.measure(QUICK)
    assert [row.unit for row in rows] == ["s"] * 2 + ["MiB"] * 3
    assert rows[0].name == "first synchronization: 20 users, 1 groups, 20 members"
    assert all(value > 0 for row in rows for value in row.values)


def test_every_bench_has_its_name() -> None:
    of_requests = "uploads login passkey provider busy details scaling writes pages downloads"
    of_servers = "transfer drives encryption bundles remote-bundles startup"
    of_lists = "lists searches orders users directories endurance sizes release"
    assert list(BENCHES) == f"{of_requests} {of_servers} {of_lists}".split()


def test_load_counts_every_answer(tmp_path: Path) -> None:
    with bare_flask(tmp_path) as server:
        load = generate(server, build_request("GET", "/", {}), clients=3, seconds=0)
    assert load.answers == 3


def test_latencies_are_enough_for_a_percentile_however_slow_the_answers(tmp_path: Path) -> None:
    with bare_flask(tmp_path) as server:
        taken = latencies(server, build_request("GET", "/", {}), seconds=0)
    assert len(taken) == 2
    assert min(taken) > 0


def test_load_refuses_any_answer_but_success(tmp_path: Path) -> None:
    request = build_request("GET", "/absent", {})
    with bare_flask(tmp_path) as server, pytest.raises(RuntimeError, match="404"):
        generate(server, request, clients=1, seconds=0)


def test_an_upload_that_is_refused_while_it_is_sent_says_why(tmp_path: Path) -> None:
    content, headers = bytes(8 * MEBIBYTE), raw_headers("same.bin")
    with strongroom(tmp_path) as server:
        client = Client(server)
        client.upload(client.files, headers, b"first")
        with pytest.raises(RuntimeError, match="name-conflict"):
            client.upload(client.files, headers, content)


def test_a_server_ends_with_its_block_also_on_failure(tmp_path: Path) -> None:
    handles: list[int] = []

    def fail_while_serving() -> None:
        with strongroom(tmp_path) as server:
            handles.extend(map(os.pidfd_open, processes(server.pid)))
            raise RuntimeError("in the block")

    with pytest.raises(RuntimeError, match="in the block"):
        fail_while_serving()
    assert len(handles) == 3
    assert all(map(_has_ended, handles))


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(RuntimeError, match="data"), strongroom(tmp_path):
        pass


def test_usage_counts_all_processes_of_a_server(tmp_path: Path) -> None:
    with bare_flask(tmp_path) as server:
        assert processor_seconds(server.pid) > 0
        forget_peak(server.pid)
        # Linux adds up a thread's last pages late.
        assert peak_bytes(server.pid) >= resident_bytes(server.pid) * 0.9


def _has_ended(handle: int) -> bool:
    """Return whether a process has ended, or does so soon."""
    try:
        return bool(select.select([handle], [], [], 60)[0])
    finally:
        os.close(handle)
