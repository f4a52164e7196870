"""Macros that several templates of a page import are made once, unless their variables differ."""

from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import DictLoader, Environment, Template
from jinja2.environment import TemplateModule

from strongroom.web.pages.macro_modules import PageTemplate

PARTS = (
    "{% import 'inner.html' as inner with context %}"
    "{% macro hello() %}{{ inner.greet() }} {{ name }}{% endmacro %}"
)
USE = "{% from 'parts.html' import hello with context %}{{ hello() }}"
TEMPLATES = {
    "inner.html": "{% macro greet() %}{{ greeting }}{% endmacro %}",
    "parts.html": PARTS,
    "use.html": USE,
    "page.html": f"{USE}, {{% include 'use.html' %}}",
    "both.html": f"{USE}; {{% import 'more.html' as more with context %}}{{{{ more.again }}}}",
    "more.html": f"{USE}{{% set again = hello() %}}",
    "own.html": "{% set greeting = greeting ~ '!' %}{% macro greet() %}{{ greeting }}{% endmacro %}",
    "read.html": (
        "{% for greeting in names %}{% from 'own.html' import greet with context %}"
        "{{ greet() }}{% endfor %}"
    ),
    "loop.html": f"{{% for name in names %}}{USE};{{% endfor %}}",
    "set.html": f"{USE};{{% set greeting = 'Bye' %}}{USE}",
}


def render(template: str, **values: object) -> tuple[str, SimpleNamespace]:
    environment = Environment(loader=DictLoader(TEMPLATES), autoescape=True)
    environment.template_class = PageTemplate
    frame = SimpleNamespace(modules={})
    return environment.get_template(template).render(strongroom=frame, **values), frame


def test_a_module_is_made_once_for_a_page() -> None:
    html, frame = render("page.html", greeting="Hello", name="<Ann>")
    assert html == "Hello &lt;Ann&gt;, Hello &lt;Ann&gt;"
    assert {template.name for template in frame.modules} == {"parts.html", "inner.html"}


def test_a_variable_of_another_value_makes_it_again() -> None:
    assert render("loop.html", greeting="Hello", names=["A", "B"])[0] == "Hello A;Hello B;"


def test_a_variable_of_an_imported_template_counts_as_well() -> None:
    assert render("set.html", greeting="Hello", name="A")[0] == "Hello A;Bye A"


def test_what_an_import_defines_is_no_variable_of_it() -> None:
    """Each template that imports macros has others of the same names."""
    made = []
    make = Template.make_module

    def count(self: Template, *arguments: Any) -> TemplateModule:
        made.append(str(self.name))
        return make(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "make_module", count)
        assert render("both.html", greeting="Hello", name="A")[0] == "Hello A; Hello A"
    assert sorted(made) == ["inner.html", "more.html", "parts.html"]


def test_a_variable_that_a_template_reads_and_sets_again_counts() -> None:
    assert render("read.html", names=["A", "B"])[0] == "A!B!"
