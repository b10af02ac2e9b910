"""From the content of a policy file to a policy: every key is known, has the right type, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.gate.policy import GatePolicy, Sensitive, Surplus
from tarnkappe.schema import near
from tarnkappe.table.formats.address import database_file, is_address

SECTIONS = ("table", "sensitive", "protection", "surplus", "answer", "state", "users", "server")


class Section:
    """One section of the file, of which every key must be taken."""

    def __init__(self, name: str, content: object) -> None:
        if not isinstance(content, Mapping):
            raise ParameterError(f"[{name}] must be a section")
        self.name, self._left = name, dict(content)
        self._known: list[str] = []

    def take(self, key: str, kinds: type | tuple[type, ...], default: Any = None) -> Any:
        """The value of a key; without a default it must be there."""
        self._known.append(key)
        if key not in self._left:
            if default is None:
                raise ParameterError(f"[{self.name}] lacks '{key}'")
            return default
        return self._checked(key, kinds)

    def may_have(self, key: str, kinds: type | tuple[type, ...]) -> Any:
        """The value of a key, or None."""
        self._known.append(key)
        return self._checked(key, kinds) if key in self._left else None

    def names(self, key: str, *, needed: bool = False) -> tuple[str, ...] | None:
        """A list of texts."""
        found = self.take(key, list) if needed else self.may_have(key, list)
        if found is None:
            return None
        if not all(isinstance(name, str) for name in found) or len(set(found)) < len(found):
            raise ParameterError(f"[{self.name}] '{key}' must be a list of different texts")
        return tuple(found)

    def end(self) -> None:
        """Refuse what nobody took."""
        for key in self._left:
            meant = near(key, self._known)
            hint = f"did you mean '{meant[0]}'?" if meant else f"known are {', '.join(self._known)}"
            raise ParameterError(f"[{self.name}] has an unknown key '{key}': {hint}")

    def _checked(self, key: str, kinds: type | tuple[type, ...]) -> Any:
        value = self._left.pop(key)
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            names = " or ".join(kind.__name__ for kind in wanted)
            raise ParameterError(f"[{self.name}] '{key}' must be of the type {names}")
        return value


def read_policy(content: Mapping[str, Any], folder: Path) -> GatePolicy:
    """The policy that a file says."""
    for name in content:
        if name not in SECTIONS:
            meant = near(name, SECTIONS)
            hint = f"did you mean [{meant[0]}]?" if meant else f"known are {', '.join(SECTIONS)}"
            raise ParameterError(f"unknown section [{name}]: {hint}")
    table = Section("table", content.get("table", {}))
    protection = Section("protection", content.get("protection", {}))
    surplus = Section("surplus", content.get("surplus", {}))
    answer = Section("answer", content.get("answer", {}))
    state = Section("state", content.get("state", {}))
    users = Section("users", content.get("users", {}))
    k = protection.may_have("k", int)
    known = protection.may_have("known", str)
    policy = GatePolicy(
        source=_place(table.take("source", str), folder),
        table=table.take("name", str),
        key=table.take("key", str),
        quasi_identifiers=table.names("quasi_identifiers", needed=True) or (),
        sensitive=tuple(_sensitive(name, said, k) for name, said in content.get("sensitive", {}).items()),
        on_violation=protection.take("on_violation", str, "add"),
        accepted_leaks=frozenset(protection.names("accept_leak_through") or ()),
        collusion=protection.take("collusion", str, "everyone"),
        groups=_groups(users.may_have("groups", dict) or {}),
        strategy=protection.take("strategy", str, "witness-pool"),
        surplus=Surplus(
            share=float(surplus.take("share", (int, float), Surplus.share)),
            least=surplus.may_have("least", int),
            spread=float(surplus.take("spread", (int, float), Surplus.spread)),
            root=float(surplus.take("root", (int, float), Surplus.root)),
            draw=surplus.take("draw", str, Surplus.draw),
        ),
        form=answer.take("form", str, "permuted"),
        tell_artificial=answer.take("tell_artificial", bool, False),
        min_rows=answer.take("min_rows", int, 1),
        max_rows=answer.may_have("max_rows", int),
        store=_place(state.take("store", str, "tarnkappe.state"), folder),
        key_file=_place(state.take("key", str, "tarnkappe.key"), folder),
        users=users.names("names"),
        known=None if known is None else _place(known, folder),
    )
    for section in (table, protection, surplus, answer, state, users):
        section.end()
    return policy


def _sensitive(name: str, said: object, k: int | None) -> Sensitive:
    section = Section(f"sensitive.{name}", said)
    own = section.may_have("k", int) or k
    if own is None:
        raise ParameterError(f"how many values does everybody keep for '{name}'? Set k in [protection]")
    closeness = section.may_have("closeness", (int, float))
    alike = section.may_have("alike", list) or []
    if not all(isinstance(values, list) for values in alike):
        raise ParameterError(f"[sensitive.{name}] 'alike' must be a list of lists of values")
    column = Sensitive(
        name=name,
        k=own,
        values=_values(section),
        values_from=section.take("values_from", str, "public"),
        holders=section.may_have("holders", int),
        alike=tuple(frozenset(map(str, values)) for values in alike),
        closeness=None if closeness is None else float(closeness),
    )
    section.end()
    return column


def _values(section: Section) -> tuple[str, ...] | None:
    """The list of a column: texts, or numbers of a column of numbers."""
    found = section.may_have("values", list)
    if found is None:
        return None
    plain = all(isinstance(value, (str, int, float)) and not isinstance(value, bool) for value in found)
    values = tuple(map(str, found))
    if not plain or len(set(values)) < len(values):
        raise ParameterError(f"[{section.name}] 'values' must be a list of different texts or numbers")
    return values


def _groups(said: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    groups = Section("users.groups", said)
    return {name: groups.names(name, needed=True) or () for name in said}


def _place(text: str, folder: Path) -> str:
    """A path that starts at the folder; an address of a server as it is."""
    if is_address(text):
        file = database_file(text)
        return text if file is None or file.is_absolute() else f"{text.split('://')[0]}:///{folder / file}"
    return str(folder / text)
