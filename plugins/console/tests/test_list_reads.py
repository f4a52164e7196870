"""No page reads only the first page of a list of the REST API."""

import ast
from collections.abc import Iterator
from pathlib import Path

import strongroom_console
import strongroom_login_pages


def requests_of_one_page() -> Iterator[str]:
    """Return the calls of the pages that read the first page of a list and no other."""
    for package in (strongroom_console, strongroom_login_pages):
        folder = Path(next(iter(package.__path__)))
        for path in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and _reads_one_page(node):
                    yield f"{path.relative_to(folder)}: {ast.unparse(node)}"


def _reads_one_page(call: ast.Call) -> bool:
    names = {keyword.arg for keyword in call.keywords}
    texts = " ".join(ast.unparse(argument) for argument in call.args)
    is_sized = "pageSize" in names or "pageSize=" in texts
    is_continued = any(name in names or f"{name}=" in texts for name in ("pageNumber", "cursor"))
    return is_sized and not is_continued


def test_no_page_reads_only_the_first_page_of_a_list() -> None:
    # The first steps of a server need only the number of records.
    counted = "server/first_steps.py: visit.read(path, pageSize=1)"
    # The search of everything, the start page, and the searches for people in the audit log and for new
    # members show or offer the first records only.
    firsts = ("find.py:", "home.py:", "server/audit_search.py:", "tenant/new_members.py:")
    calls = [call for call in requests_of_one_page() if not call.startswith(firsts)]
    assert [call for call in calls if call != counted] == []
