"""Forms of pages: values by a marshmallow schema, and faults at their fields.

A page shows the same form again after a fault, with the texts that were sent::

    class TenantForm(Schema):
        name = fields.String(required=True, validate=validate.Length(max=255))

    @drawer.post("/")
    def create_tenant():
        visit, form = current_visit(), SchemaForm(TenantForm(), flask.request.form)
        response = visit.send_form(form, "POST", "/api/v1/tenants")
        if response is None:
            return visit.page("tenants.html", form=form)
        return visit.follow(response, "/", "created")

``{{ field("name", text("name"), form=form) }}`` in the template is the field with its text
and its fault. Where the REST API has another name for a field, the schema has it as ``attribute``::

    until = fields.String(attribute="expiresAt")
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any, Final

from marshmallow import EXCLUDE, Schema, ValidationError, fields
from werkzeug.datastructures import MultiDict

from strongroom.plugin_api.web import RestResponse

FieldNames = Mapping[str, Sequence[str]]
"""The fields of forms by the field of the REST API, such as ``expiresAt`` or ``assurance.acr``."""

_NOTHING: MultiDict[str, str] = MultiDict()


def find_form_field(name: str, fields: Container[str], names: FieldNames) -> str | None:
    """Return the field of a form for a field of the REST API; ``None`` if the form has none.

    Args:
        name: the field of the REST API, with the path of a nested one.
        fields: the fields of the form.
        names: the fields of forms where their names differ.
    """
    member = name.partition(".")[0]
    candidates = (member, *names.get(name, ()), *names.get(member, ()))
    return next((candidate for candidate in candidates if candidate in fields), None)


_PLAIN: Final = {"Missing data for required field.": "Fill in this field."}
"""The words of pages for messages of marshmallow, by the latter."""


class SchemaForm:
    """The fields of a form: the texts that were sent, their values, and their faults.

    Texts have no blanks around them, and an empty one counts as missing. A field with ``load_only``,
    such as a password, keeps its blanks, and is not shown again.

    Args:
        schema: its fields; others of the request are ignored.
        sent: the fields of the request; ``None``: the form is not sent yet.
    """

    def __init__(self, schema: Schema, sent: MultiDict[str, str] | None = None) -> None:
        self._fields = {item.data_key or name: item for name, item in schema.fields.items()}
        self._names = {
            item.attribute: (name,) for name, item in self._fields.items() if item.attribute is not None
        }
        self._sent = _NOTHING if sent is None else sent
        self.values: Mapping[str, Any] = {}
        """The valid values by the names of the schema."""
        self.faults: dict[str, str] = {}
        """The faults by field, in English, which pages translate, or in the language of the page."""
        if sent is not None:
            self._load(schema)

    @property
    def first_fault(self) -> str | None:
        """The first field with a fault, which gets the focus."""
        return next((name for name in self._fields if name in self.faults), None)

    def text(self, name: str) -> str:
        """Return the text of a field, as it was sent."""
        item = self._fields.get(name)
        return "" if item is None or item.load_only else self._sent.get(name, "")

    def texts(self, name: str) -> list[str]:
        """Return the texts of a field that may be sent several times, such as checkboxes."""
        return self._sent.getlist(name)

    def refuse(self, response: RestResponse) -> bool:
        """Show the faults of fields that the REST API has found; return whether there are any."""
        error = {} if response.error is None else response.json["error"]
        for detail in error.get("details", ()):
            name = find_form_field(detail["field"], self._fields, self._names)
            if name is not None:
                self.faults.setdefault(name, detail["message"])
        return bool(self.faults)

    def _load(self, schema: Schema) -> None:
        given = {name: self._given(name, item) for name, item in self._fields.items()}
        texts = {name: value for name, value in given.items() if value}
        try:
            self.values = schema.load(texts, unknown=EXCLUDE)
        except ValidationError as error:
            self.values = error.valid_data if isinstance(error.valid_data, dict) else {}
            messages: Any = error.messages
            self.faults = {name: _first(fault) for name, fault in messages.items()}

    def _given(self, name: str, item: fields.Field[Any]) -> Any:
        if isinstance(item, fields.List):
            return self._sent.getlist(name)
        text = self._sent.get(name, "")
        return text if item.load_only else text.strip()


def _first(messages: Any) -> str:
    """Return the first message of those that marshmallow nests for items of lists."""
    while not isinstance(messages, str):
        messages = next(iter(messages.values() if isinstance(messages, dict) else messages))
    return _PLAIN.get(messages, messages)
