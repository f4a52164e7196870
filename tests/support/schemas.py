"""Checks YAML files of other programs against the schemas that check-jsonschema brings along."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
from ruamel.yaml import YAML


def schema_faults(schema: str, path: Path) -> list[str]:
    """Return where a YAML file violates a schema, such as ``github-workflows`` or ``compose-spec``."""
    source = files("check_jsonschema") / "builtin_schemas/vendor" / f"{schema}.json"
    validator = jsonschema_rs.validator_for(json.loads(source.read_text()))
    document = YAML(typ="safe").load(path)
    return [
        f"{path.name}: {error.instance_path} {error.message}"
        for error in validator.iter_errors(document)
    ]
