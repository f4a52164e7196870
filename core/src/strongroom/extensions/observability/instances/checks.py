"""The doctor's checks of the instances of a cluster."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strongroom.clock import Clock
from strongroom.extensions.observability.doctor import CheckResult, failed, ok, warning
from strongroom.extensions.observability.instances.heartbeat import INTERVAL
from strongroom.extensions.observability.instances.models import Instance
from strongroom.extensions.observability.instances.shared_sections import SIGNING_KEYS
from strongroom.extensions.observability.instances.store import InstanceStore

_MISSED: Final = 3
"""How many records an instance may miss before it counts as gone."""

_SKEW: Final = 2_000
"""Milliseconds by which clocks of instances may differ without a warning."""


@dataclass(slots=True, eq=False, repr=False)
class InstancesCheck:
    """Compares the instances of the last day with each other."""

    _store: InstanceStore
    _clock: Clock

    def __call__(self) -> Iterator[CheckResult]:
        """Yield the findings about each instance, or a warning that there is none."""
        instances, now = self._store.find_all(), self._clock.now()
        if not instances:
            remedy = "start the servers, and wait a minute"
            yield warning("instances", "no instance has served lately", remedy)
        usual, versions = _usual(instances), Counter(item.version for item in instances)
        for instance in instances:
            version = versions.most_common(1)[0][0]
            findings = [*self._faults(instance, now), *_differences(instance, usual, version)]
            age = max(0, now - instance.seen_at) // 1000
            yield from findings or [ok(_part(instance), f"{instance.version}, seen {age} s ago")]

    def _faults(self, instance: Instance, now: int) -> Iterator[CheckResult]:
        age = (now - instance.seen_at) // 1000
        if age > _MISSED * INTERVAL:
            remedy = "start it, or see its log; an instance that was removed is forgotten after a day"
            yield failed(_part(instance), f"has not served for {age} seconds", remedy)
        if abs(instance.skew) > _SKEW:
            remedy = "synchronize its clock by NTP"
            yield warning(_part(instance), f"its clock differs by {instance.skew / 1000:.1f} s", remedy)


def _differences(
    instance: Instance, usual: Mapping[str, str | None], version: str
) -> Iterator[CheckResult]:
    sections = json.loads(instance.sections)
    differing = sorted(name for name, digest in usual.items() if digest != sections.get(name))
    if SIGNING_KEYS in differing:
        remedy = "copy the key file to all instances, and reload them"
        yield failed(_part(instance), "has other signing keys, so others refuse its tokens", remedy)
    if others := [f"[{name}]" for name in differing if name != SIGNING_KEYS]:
        remedy = "give all instances the same configuration, and reload them"
        yield failed(_part(instance), f"differs from the other instances in {', '.join(others)}", remedy)
    if instance.version != version:
        remedy = f"finish the upgrade, so that all instances have {version} or newer"
        yield warning(_part(instance), f"has the version {instance.version}", remedy)


def _usual(instances: Sequence[Instance]) -> dict[str, str | None]:
    """Return the digest of each section that most instances have; ``None``: most lack the section."""
    every = [json.loads(instance.sections) for instance in instances]
    names = {name for sections in every for name in sections}
    return {
        name: Counter(sections.get(name) for sections in every).most_common(1)[0][0] for name in names
    }


def _part(instance: Instance) -> str:
    return f"instances.{instance.name}"
