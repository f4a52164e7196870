"""A file is read as a whole: all its faults are reported at once."""

import json
from pathlib import Path

import pytest

from strongroom.content.tenants.groups.resource_kinds import KINDS as GROUP_KINDS
from strongroom.content.tenants.resource_kinds import KINDS as TENANT_KINDS
from strongroom.extensions.desired_state.document import Document, DocumentError, read_document

KINDS = (*TENANT_KINDS, *GROUP_KINDS)


def read(folder: Path, text: str, name: str = "state.toml") -> Document:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_document(path, KINDS)


def faults_of(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(DocumentError) as refused:
        read(folder, text)
    return refused.value.faults


def test_each_resource_comes_after_its_parent(tmp_path: Path) -> None:
    text = """
    [[tenants]]
    name = "Sales"
    members = ["a@example.com", { user = "b@example.com", role = "admin" }]
    groups = [{ name = "Editors", members = ["a@example.com"] }]
    """
    titles = [item.title for item in read(tmp_path, text).resources]
    assert titles == [
        'tenants "Sales"',
        'tenants "Sales" members "a@example.com"',
        'tenants "Sales" members "b@example.com"',
        'tenants "Sales" groups "Editors"',
        'tenants "Sales" groups "Editors" members "a@example.com"',
    ]


def test_the_body_has_neither_the_resources_below_nor_the_user_of_a_membership(tmp_path: Path) -> None:
    text = '[[tenants]]\nname = "S"\nmembers = [{ user = "a@example.com", role = "admin" }]'
    tenant, member = read(tmp_path, text).resources
    assert (tenant.body, member.body) == ({"name": "S"}, {"role": "admin"})


def test_json_has_the_same_tables(tmp_path: Path) -> None:
    content = {"set": "shop", "tenants": [{"name": "Sales", "quotaBytes": 5}]}
    document = read(tmp_path, json.dumps(content), "state.json")
    assert document.set_name == "shop"
    assert document.resources[0].body == {"name": "Sales", "quotaBytes": 5}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[[tenant]]\nname = 'x'", "tenant: unknown; the file may declare tenants"),
        (
            "[[tenants]]\ncolour = 1\nname = 'x'",
            "tenants.1.colour: unknown; tenants have assurance, name, ",
        ),
        ("[[tenants]]\nquotaBytes = 1", "tenants.1.name: is missing; it identifies the resource"),
        ("[[tenants]]\nname = 5", "tenants.1.name: is missing; it identifies the resource"),
        ("tenants = 'x'", "tenants: must be a list of tables, as [[tenants]] writes it"),
        ("tenants = [5]", "tenants.1: must be a table"),
        ("tenants = ['x', 'x']", 'tenants.2: tenants "x" is declared in tenants.1, too'),
    ],
)
def test_a_fault_names_its_place(tmp_path: Path, text: str, fault: str) -> None:
    (found,) = faults_of(tmp_path, text)
    assert found.startswith(fault)


@pytest.mark.parametrize("name", ["5", '"Upper"', '""', f'"{"a" * 65}"'])
def test_the_name_of_a_set_is_lowercase(tmp_path: Path, name: str) -> None:
    assert faults_of(tmp_path, f"set = {name}")[0].startswith("set: must be a name")


def test_a_file_that_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    (fault,) = faults_of(tmp_path, "[[tenants")
    assert fault.startswith(f"{tmp_path / 'state.toml'}: ")


def test_all_faults_are_reported(tmp_path: Path) -> None:
    assert len(faults_of(tmp_path, "x = 1\n[[tenants]]\nname = 'a'\ny = 2\nz = 3")) == 3
