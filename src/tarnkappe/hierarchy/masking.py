"""Masking: codes lose one character after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import pyarrow as pa
from msgspec import Meta
from msgspec.structs import force_setattr

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy.builder import MOST_LEVELS, Builder, Domain, Labels
from tarnkappe.schema import MANY_ROWS, NO_NUL, param

if TYPE_CHECKING:
    Character = str
else:
    Character = (
        Annotated[str, Meta(min_length=1, max_length=1, pattern=NO_NUL)] | Annotated[int, Meta(ge=0, le=9)]
    )


class Masking(Builder):
    """Every level masks one more character, from the right or from the left; the root is all masked.

    Values of different length are first padded to the length of the longest, so that the masked part
    is the same on all lines. The root has the length of the values, as in `*****`.

    >>> import pyarrow as pa
    >>> for row in Masking().build(pa.array(["82667", "82451"])).rows(): print(*row, sep=";")
    82451;8245*;824**;82***;8****;*****
    82667;8266*;826**;82***;8****;*****
    """

    name = "masking"

    side: Annotated[Literal["left", "right"], param("where masking begins")] = "right"
    character: Annotated[Character, param("what replaces a character")] = "*"
    step: Annotated[
        int, param("how many characters each level masks", ge=1, le=MANY_ROWS, unit="characters")
    ] = 1
    pad: Annotated[
        Character | None,
        param(
            "what shorter values are padded with; without it 0 for whole numbers, else the masking character"
        ),
    ] = None
    pad_side: Annotated[
        Literal["left", "right"] | None,
        param("where shorter values are padded; without it numbers on the left, texts where masking begins"),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for parameter in ("character", "pad"):
            if isinstance(getattr(self, parameter), int):  # a digit may be given as a number, as in pad = 0
                force_setattr(self, parameter, str(getattr(self, parameter)))

    @classmethod
    def examples(cls) -> tuple[Masking, ...]:
        """Instances for the common tests."""
        return (
            cls(),
            cls(side="left", character="#"),
            cls(step=3, pad="0", pad_side="left"),
            cls(side="left", pad=" ", pad_side="right"),
        )

    @property
    def height(self) -> None:
        """As many levels as the longest value has characters, divided by the step."""
        return

    def generalize(self, domain: Domain) -> list[Labels]:
        """The values with ever more characters masked."""
        length = _longest(domain)
        height = -(-length // self.step)
        if height > MOST_LEVELS:
            raise HierarchyError(
                "hierarchy.masking-would-need-levels",
                "masking would need {height} levels, since {owner} has a value of {length} characters: set "
                "step to {length_2} to mask more characters on each level",
                height=height,
                owner=domain.owner,
                length=length,
                length_2=-(-length // 8),
            )
        padded = self._padded(domain, length)
        levels = []
        for masked in range(self.step, length, self.step):
            mask = self.character * masked
            if self.side == "right":
                levels.append([text[:-masked] + mask for text in padded])
            else:
                levels.append([mask + text[masked:] for text in padded])
        return levels

    def root(self, domain: Domain) -> str:
        """All characters masked."""
        return self.character * max(1, _longest(domain))

    def _padded(self, domain: Domain, length: int) -> Labels:
        whole = pa.types.is_integer(domain.values.type)
        side = self.pad_side or ("left" if whole else self.side)
        pad = self.pad or ("0" if whole else self.character)
        if side == "right":
            return [text.ljust(length, pad) for text in domain.texts]
        if pad == "0":  # the sign of a negative number stays in front
            return [text.zfill(length) for text in domain.texts]
        return [text.rjust(length, pad) for text in domain.texts]


def _longest(domain: Domain) -> int:
    return max(map(len, domain.texts), default=0)
