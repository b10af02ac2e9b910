"""Masking: codes lose one character after the other."""

from __future__ import annotations

import dataclasses
from typing import Literal

import pyarrow as pa

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy.builder import MOST_LEVELS, Builder, Domain, Labels, require_whole
from tarnkappe.parameters import ACCEPTS


@dataclasses.dataclass(frozen=True)
class Masking(Builder):
    """Every level masks one more character, from the right or from the left; the root is all masked.

    Values of different length are first padded to the length of the longest, so that the masked part
    is the same on all lines. The root has the length of the values, as in `*****`.

    Attributes:
        side: where masking begins, "right" or "left".
        character: what replaces a character.
        step: how many characters each level masks.
        pad: the character that shorter values are padded with; without it whole numbers are padded with
            0 and texts with the masking character.
        pad_side: where shorter values are padded; without it whole numbers are padded on the left (1067
            is read as 01067) and texts on the side where masking begins.

    >>> import pyarrow as pa
    >>> for row in Masking().build(pa.array(["82667", "82451"])).rows(): print(*row, sep=";")
    82451;8245*;824**;82***;8****;*****
    82667;8266*;826**;82***;8****;*****
    """

    name = "masking"

    side: Literal["left", "right"] = "right"
    character: str = dataclasses.field(default="*", metadata={ACCEPTS: str | int})
    step: int = 1
    pad: str | None = dataclasses.field(default=None, metadata={ACCEPTS: str | int | None})
    pad_side: Literal["left", "right"] | None = None

    def __post_init__(self) -> None:
        require_whole("masking", "step", self.step, 1)
        _require_side("side", self.side)
        if self.pad_side is not None:
            _require_side("pad_side", self.pad_side)
        object.__setattr__(self, "character", _character("character", self.character))
        if self.pad is not None:
            object.__setattr__(self, "pad", _character("pad", self.pad))

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
                f"masking would need {height} levels, since {domain.owner} has a value of {length} "
                f"characters: set step to {-(-length // 8)} to mask more characters on each level"
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


def _require_side(parameter: str, given: object) -> None:
    if given not in ("left", "right"):
        raise ParameterError(f"masking needs left or right for {parameter}, not {given!r}")


def _character(parameter: str, given: object) -> str:
    """A single character; a digit may be given as a number, as in pad = 0."""
    if isinstance(given, bool) or not isinstance(given, str | int) or len(str(given)) != 1:
        raise ParameterError(f"masking needs a single character for {parameter}, not {given!r}")
    return str(given)


def _longest(domain: Domain) -> int:
    return max(map(len, domain.texts), default=0)
