"""Forms and lists of pages: what is read of a request, and what a page shows again."""

from typing import Any

from flask import Flask
from marshmallow import Schema, fields, validate
from werkzeug.datastructures import MultiDict

from strongroom.plugin_api.page_forms import SchemaForm
from strongroom.plugin_api.page_lists import page_number
from strongroom.plugin_api.web import RestResponse


class LoginForm(Schema):
    name = fields.String(required=True, validate=validate.Length(max=5))
    password = fields.String(load_only=True)
    size = fields.Integer(data_key="count")
    kinds = fields.List(fields.String(validate=validate.OneOf(("a", "b"))))


def sent(*pairs: tuple[str, str]) -> SchemaForm:
    return SchemaForm(LoginForm(), MultiDict(pairs))


def test_a_form_has_the_values_of_its_schema_alone() -> None:
    form = sent(
        ("name", " Ada "), ("password", " x "), ("kinds", "a"), ("kinds", "b"), ("type", "ADMIN")
    )
    assert form.values == {"name": "Ada", "password": " x ", "kinds": ["a", "b"]}
    assert form.faults == {}
    assert SchemaForm(LoginForm()).faults == {}


def test_a_page_shows_faults_and_texts_again_but_no_password() -> None:
    form = sent(("name", "Lovelace"), ("password", "secret"), ("count", "many"), ("kinds", "c"))
    assert list(form.faults) == ["name", "count", "kinds"]
    assert form.first_fault == "name"
    texts = {name: form.text(name) for name in ("name", "password", "count", "other")}
    assert texts == {"name": "Lovelace", "password": "", "count": "many", "other": ""}
    assert sent(("name", "  ")).faults == {"name": "Fill in this field."}


class LinkForm(Schema):
    until = fields.String(attribute="expiresAt")
    level = fields.String(attribute="assurance.acr")
    label = fields.String()


def test_a_fault_of_the_rest_api_is_at_the_field_with_another_name() -> None:
    names = ("expiresAt", "assurance.acr", "label.0", "other")
    details = [{"field": name, "message": name} for name in names]
    form = SchemaForm(LinkForm(), MultiDict({"until": "2100-02-03", "label": "x"}))
    assert form.values == {"expiresAt": "2100-02-03", "label": "x"}
    assert form.refuse(RestResponse(400, {"error": {"code": "error.x", "details": details}}))
    assert form.faults == {"until": "expiresAt", "level": "assurance.acr", "label": "label.0"}


def test_a_list_has_a_page_of_few_ascii_digits() -> None:
    def number(text: str) -> Any:
        with Flask("test").test_request_context("/", query_string={"page": text}):
            return page_number()

    texts = ("1", "007", "999999999", "1000000000", "9" * 5000, "0", "-1", "", "²", "٣")
    assert [number(text) for text in texts] == [1, 7, 999999999, 1, 1, 1, 1, 1, 1, 1]
