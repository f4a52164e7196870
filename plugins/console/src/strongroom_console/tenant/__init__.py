"""The pages of a tenant: its members, rules and connections."""

from typing import Final

from flask import Blueprint

AREAS: Final[tuple[Blueprint, ...]] = ()
