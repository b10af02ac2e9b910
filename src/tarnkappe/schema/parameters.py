"""What every class has that people give parameters to: declared fields, checked whenever one is made.

A class of parameters is a msgspec Struct. Its constructor checks nothing by itself, so `__post_init__` lets
msgspec convert every value that is not the default; whatever it refuses is explained with all else that is
wrong. What must hold between parameters is said by `rules`, which is asked only if every parameter is right
by itself.
"""

from __future__ import annotations

import functools
import itertools
import typing
from abc import ABCMeta
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

import msgspec
from msgspec import NODEFAULT, StructMeta
from msgspec.structs import force_setattr

from tarnkappe.schema.problem import InvalidError, Problem, shown

if TYPE_CHECKING:
    from msgspec import inspect

PLAIN = (int, float, bool, type(None))
Made = TypeVar("Made", bound="Parameters")


class Field:
    """One declared parameter of a class.

    Attributes:
        name: its name.
        type: what it may be, as msgspec understands it.
        required: whether it must be given.
        default: what it is otherwise.
        kw_only: whether Python must name it.
    """

    def __init__(self, field: msgspec.structs.FieldInfo, kw_only: bool) -> None:
        self.name = field.name
        self.type = field.type
        self.required = field.required
        self.kw_only = kw_only
        self._default, self._factory = field.default, field.default_factory
        metas = [meta for meta in getattr(field.type, "__metadata__", ()) if isinstance(meta, msgspec.Meta)]
        said = next((meta for meta in metas if meta.description is not None), msgspec.Meta(extra={}))
        self.help = said.description or ""
        extra = said.extra or {}
        self.unit: str = extra.get("unit", "")
        self.start: Any = extra.get("start")
        self.kind: str = extra.get("kind", "")

    @property
    def default(self) -> Any:
        """What it is if it is not given; nothing if it must be."""
        if self._default is not NODEFAULT:
            return self._default
        return None if self._factory is NODEFAULT else self._factory()

    @functools.cached_property
    def info(self) -> inspect.Type:
        """Its type, for walking."""
        from msgspec import inspect

        return inspect.type_info(self.type)

    @functools.cached_property
    def members(self) -> frozenset[type]:
        """The classes of parameters that its value may be made of."""
        return frozenset(_members(self.type))

    def is_default(self, value: object) -> bool:
        """Whether a value is the default itself, which nobody needs to check."""
        return value is self._default

    def converted(self, value: object) -> Any:
        """The value as it is kept, or `InvalidError` with all that is wrong with it."""
        if self.members and _is_made(value, self.members):
            return value  # a section that was checked when it was made; its type is large
        try:
            taken = msgspec.convert(value, self.type)
            if isinstance(taken, PLAIN):
                return taken
        except Exception:  # whatever an odd object does to the converter, it is not taken
            taken = NODEFAULT
        from tarnkappe.schema.explain import MOST_PROBLEMS, explain, holds_fractions, plain

        given = plain(value, self.info) if taken is NODEFAULT else taken
        problems: list[Problem] = []
        if taken is NODEFAULT or holds_fractions(self.info):
            problems = list(itertools.islice(explain(given, self.info, (self.name,)), MOST_PROBLEMS))
        if not problems:
            try:
                return msgspec.convert(given, self.type) if taken is NODEFAULT else taken
            except Exception:
                problems = [Problem("schema.invalid", (self.name,))]
        raise InvalidError.of("", problems)


def _members(kind: Any) -> Iterator[type]:
    if isinstance(kind, StructMeta):
        yield kind
    for inner in typing.get_args(kind):
        yield from _members(inner)


def _is_made(value: object, members: frozenset[type]) -> bool:
    """Whether a value, or all that it holds, has been made and checked before."""
    if isinstance(value, tuple):
        return bool(value) and all(type(each) in members for each in value)
    if isinstance(value, dict):
        return bool(value) and all(type(each) in members for each in value.values())
    return type(value) in members


@functools.cache
def fields_of(kind: type) -> tuple[Field, ...]:
    """The declared parameters of a class in the order of its constructor; none if it declares none."""
    if not isinstance(kind, StructMeta):
        return ()
    struct: Any = kind
    positional = len(struct.__match_args__)
    fields = msgspec.structs.fields(struct)
    return tuple(Field(field, number >= positional) for number, field in enumerate(fields))


class _NamedMeta(StructMeta, ABCMeta):
    """The class of classes of parameters: Structs that may be abstract and know their name."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any
    ) -> _NamedMeta:
        member = namespace.get("name")
        outer = [base.__struct_config__.tag_field for base in bases if isinstance(base, StructMeta)]
        key = config.get("tag_field") or next(filter(None, outer), None)
        if key:  # the word by which a document names the member, such as "model"
            config |= {"tag_field": key, "tag": member if isinstance(member, str) else name}
        return super().__new__(mcs, name, bases, namespace, **config)


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class ParametersMeta(_NamedMeta):
    """The class of classes whose instances never change."""


@dataclass_transform(field_specifiers=(msgspec.field,))
class ChangingMeta(_NamedMeta):
    """The class of classes whose instances keep more than their parameters."""


class _Checked:
    """What is checked whenever an instance is made."""

    __slots__ = ()
    cites: ClassVar[tuple[str, ...]] = ()
    """The papers behind it, by their keys in docs/references.bib; the reference pages print them."""

    def __post_init__(self) -> None:
        made: Any = self
        kind: Any = type(self)
        problems: list[Problem] = []
        for field in fields_of(kind):
            given = getattr(self, field.name)
            if field.is_default(given):
                continue
            try:
                force_setattr(made, field.name, field.converted(given))
            except InvalidError as error:
                problems += error.problems
        problems = problems or list(self.rules())
        if problems:
            raise InvalidError.of(self.called(), problems)

    @classmethod
    def called(cls) -> str:
        """The name by which people know what the parameters belong to."""
        name = getattr(cls, "name", None)
        return name if isinstance(name, str) else cls.__name__

    def rules(self) -> Iterator[Problem]:
        """What is wrong between parameters that are right by themselves."""
        return iter(())


class Parameters(_Checked, msgspec.Struct, metaclass=ParametersMeta, frozen=True, forbid_unknown_fields=True):
    """Something with parameters that people give; see the module for how they are checked."""

    def __hash__(self) -> int:
        return hash((type(self), *(_hashable(getattr(self, f.name)) for f in fields_of(type(self)))))


class ChangingParameters(
    _Checked, msgspec.Struct, metaclass=ChangingMeta, dict=True, weakref=True, forbid_unknown_fields=True
):
    """Something with parameters that people give and with a memory of its own, as a strategy has."""


def _hashable(value: object) -> object:
    """A value by which equal parameters are found; what is in tables does not count."""
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    return len(value) if isinstance(value, Mapping) else value


def replace(made: Made, **changes: Any) -> Made:
    """The same with some other parameters, checked again."""
    for name in changes:
        if name not in type(made).__struct_fields__:
            raise InvalidError(
                "schema.no-parameter",
                "{owner}: there is no parameter {name}",
                owner=made.called(),
                name=shown(name),
            )
    return msgspec.structs.replace(made, **changes)


def values_of(made: Parameters) -> dict[str, Any]:
    """The parameters by name, as plain data."""
    given = {field.name: getattr(made, field.name) for field in fields_of(type(made))}
    return {name: values_of(each) if isinstance(each, Parameters) else each for name, each in given.items()}
