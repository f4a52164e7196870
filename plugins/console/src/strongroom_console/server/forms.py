"""The fields of the forms and filters of the pages of the server."""

from collections.abc import Collection, Mapping

from flask import request

from strongroom.plugin_api.times import moment_of_input
from strongroom.plugin_api.visits import current_visit
from strongroom_console.numbers import form_number


def field(name: str) -> str:
    """Return a field of the form, without the spaces around it."""
    return request.form.get(name, "").strip()


def fields(*names: str) -> dict[str, str]:
    """Return the fields of the form that have a value."""
    values = ((name, field(name)) for name in names)
    return {name: value for name, value in values if value}


def whole_number(name: str) -> int | str:
    """Return a number of the form; another text as it is, so that the REST API refuses it."""
    number = form_number(name)
    return "" if number is None else number


def is_checked(name: str) -> bool:
    """Return whether the form has a checked box."""
    return name in request.form


def filters(*names: str, **choices: Collection[str]) -> dict[str, str]:
    """Return the parameters of the query that have a value.

    Args:
        names: the parameters with any text.
        choices: the values of the others, by their names; another value counts as none.
    """
    values = ((name, request.args.get(name, "").strip()) for name in (*names, *choices))
    return {name: value for name, value in values if value and value in choices.get(name, (value,))}


def times_of(values: Mapping[str, str], *names: str) -> dict[str, str]:
    """Return fields whose times, which people enter in the zone of the form, are in ISO 8601.

    Another text is returned as it is, so that the REST API refuses it.
    """
    zone = current_visit().form_zone
    return {key: moment_of_input(text, zone) if key in names else text for key, text in values.items()}
