"""The section of a document that names an algorithm and has its parameters beside other keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, TypeVar, cast

from tarnkappe.errors import TarnkappeError
from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.schema import InvalidError, Parameters, Problem, fields_of, param
from tarnkappe.schema.documents import refused
from tarnkappe.schema.parameters import ParametersMeta

Base = TypeVar("Base", bound="AlgorithmSection")


class AlgorithmSection(Parameters, tag_field="algorithm", kw_only=True):
    """A section that names a search or a method by `algorithm`."""

    member: ClassVar[type[Any]]

    def rules(self) -> Iterator[Problem]:
        """The algorithm takes its parameters."""
        try:
            self.algorithm  # noqa: B018  it is made, or says why not
        except InvalidError as error:
            yield from error.problems or (refused(error.reason),)
        except TarnkappeError as error:
            yield refused(error.reason)

    @property
    def algorithm(self) -> Any:
        """The search or method, with its parameters."""
        own = [each.name for each in fields_of(cast(type, self.member))]
        given = {name: getattr(self, name) for name in own if name != "effort"}
        effort = [each.name for each in fields_of(EvaluationSettings)] if "effort" in own else []
        stated = {name: value for name in effort if (value := getattr(self, name)) is not None}
        if stated:
            given["effort"] = EvaluationSettings(**stated)
        return self.member(**given)


def sections_of(
    base: type[Base], members: Iterable[type[Any]], *, optional: bool = False
) -> tuple[type[Base], ...]:
    """For each search or method, the section that names it: its parameters beside the keys of the base.

    Args:
        base: the keys that every such section has.
        members: the searches or methods.
        optional: whether parameters may be left out that the member needs.
    """
    return tuple(_beside(base, member, optional) for member in members)


def _beside(base: type[Base], member: type[Any], optional: bool) -> type[Base]:
    fields = [each for each in fields_of(cast(type, member)) if each.name != "effort"]
    has_effort = len(fields) < len(fields_of(cast(type, member)))
    names: dict[str, Any] = {"__module__": base.__module__, "__doc__": base.__doc__}
    names["__annotations__"] = {each.name: each.type for each in fields}
    names |= {each.name: each.default for each in fields if not each.required}
    # what is not stated stays as the member has it, which is not always as the settings have it
    unstated = [*(each for each in fields if optional and each.required)]
    unstated += fields_of(EvaluationSettings) if has_effort else ()
    for each in unstated:
        names["__annotations__"][each.name] = Annotated[each.type | None, param(each.help, unit=each.unit)]
        names[each.name] = None
    names |= {"member": member, "name": member.name}
    title = "".join(part.title() for part in member.name.split("-"))
    made: Any = ParametersMeta(f"{title}{base.__name__}", (base,), names, kw_only=True, frozen=True)
    return made  # type: ignore[no-any-return]
