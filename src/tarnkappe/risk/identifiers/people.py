"""Somebody inside a text: a title and a name, a known given name and another word; whoever a text speaks of.

One cell is enough: a release is read cell by cell. What hides in it is told by its words alone, so that it
does not depend on how many rows there are. Towns, firms, offices and diseases called after people are nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tarnkappe.risk.identifiers.words import (
    GIVEN_NAMES,
    INSIDE_WORDS,
    NAMES,
    REGIONS,
    TOWNS,
    WORD_LISTS,
    folded,
)

_WORD = re.compile(r"(?:[Ss]ig|[Dd]ott)\.(?:ra|na|ssa)\b|[^\W\d_]+(?:['’-][^\W\d_]+)*")
MAYBE = (
    r"\pL[.]?\s+\p{Lu}|\pL[.]\p{Lu}|\p{Lu}\pL+,\s|"
    r"(?i:\b(?:mr|mrs|ms|dr|herrn?|frau|mme|mlle|sra?)\b)|先生|女士|小姐|太太|様|さん"
)
"""What any text with somebody in it has, for the first look at all of them."""

_TITLES = {word: kind for kind in ("weak", "dotted", "title") for word in INSIDE_WORDS[kind]}
_AFTER = INSIDE_WORDS["after"]
_CUES = INSIDE_WORDS["cue"]
_BETWEEN = INSIDE_WORDS["between"]
_MARKS = INSIDE_WORDS["mark"]
_SAINTS = INSIDE_WORDS["saint"]
_EPONYMS = INSIDE_WORDS["eponym"]
_THINGS = (
    INSIDE_WORDS["thing"]
    | WORD_LISTS["organisation"].words
    | TOWNS
    | REGIONS
    | {"units", "unit", "einheiten"}
)
_GIVEN = GIVEN_NAMES | {folded(name) for name in GIVEN_NAMES}
_KNOWN = NAMES | {folded(name) for name in NAMES}
_POLISH = frozenset(["z", "ze", "do", "od", "u", "dla", "i", "przez", "o", "pod", "na"])
"""Words before `p.`, which is a title in Polish only."""
_NEXT = re.compile(r"[.]?[\s\u00a0]*")
_BLANK = re.compile(r"[\s\u00a0]+")
_CUE_GAP = re.compile(r"[\s\u00a0:(]+|/")
_ASIAN = re.compile(
    r"[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾]"
    r"[\u4e00-\u9fff]{0,2}(?:先生|女士|小姐|太太)|"
    r"(?<![お\u4e00-\u9fff])(?!患者|同|多|一様|仕|皆|母|父|姉|兄|奥|娘|息子|看護|医者)[\u4e00-\u9fff]{2,4}"
    r"(?:様|さん)(?!々|式|子)"
)
"""A Chinese family name and a title; a Japanese title after signs that are no word for a parent."""
_FIRST = {*_TITLES, *_AFTER, *(cue.split()[-1] for cue in _CUES)}
"""What may tell somebody beside a name."""
_OF_PLACES = INSIDE_WORDS["weak"] | {"dr"}
"""Titles that are parts of the names of places: Doña Ana, Lake Dr."""
_ONLY_WORDS = re.compile(r"[^\W\d_]+(?:[.]?[ '’-][^\W\d_]+)+")
_MOST_NAMES = 4
SHORTEST = 3
"""A given name of fewer letters is told by a title only."""
ABBREVIATED = 4
"""Words of so many capitals are abbreviations where others have small letters."""


def names_somebody(text: str, *, of_places: bool = False) -> bool:
    """Whether a text has a title with a name, or a full name of which one part is known.

    Args:
        text: the text.
        of_places: whether it may be the name of a place or a thing, which are called after people: then a
            full name counts only after a word that is no part of it.

    >>> names_somebody("HIV (Mr. Balduin Quast)"), names_somebody("M. Crohn, see Dr. med. X")
    (True, False)
    """
    words = list(_WORD.finditer(text))
    for at, word in enumerate(words):
        said = word.group().lower()
        telling = said in _FIRST and not (of_places and said in _OF_PLACES)
        if telling and (_is_titled(text, words, at) or _is_called(text, words, at)):
            return True
        alone = not of_places or _is_within(words, at)
        if said in _GIVEN and alone and _is_full_name(text, words, at):
            return True
    return bool(_ASIAN.search(text))


def has_title(text: str) -> bool:
    """Whether a text has a title with a name.

    >>> [has_title(text) for text in ("voir Mme Lefèvre", "Sr. Developer", "Sr. Kowalski", "Dr. med. dent.")]
    [True, False, True, False]
    """
    words = list(_WORD.finditer(text))
    return any(_is_titled(text, words, at) for at in range(len(words))) or bool(_ASIAN.search(text))


def is_written_as_name(text: str) -> bool:
    """Whether a text is two to four words with capitals, none of which is one for a thing or a mark.

    >>> [is_written_as_name(text) for text in ("Balduin Quast", "Ludwig van Bergen", "Opted Out", "Quast")]
    [True, True, False, False]
    """
    if not _ONLY_WORDS.fullmatch(text):
        return False
    names = [word for word in _WORD.findall(text) if word not in _BETWEEN and len(word) > 1]
    return 2 <= len(names) <= _MOST_NAMES and all(
        _is_name(word, text) and word.lower() not in _MARKS for word in names
    )


def _is_titled(text: str, words: Sequence[re.Match[str]], at: int) -> bool:
    title = words[at].group()
    said = title.lower()
    if said in _AFTER and at and title != "BEY":
        return _is_name(words[at - 1].group(), text) and bool(_BLANK.fullmatch(_gap(text, words, at - 1)))
    kind = _TITLES.get(said)
    if kind is None:
        return False
    name = _after(text, words, at, _NEXT, through_titles=kind != "weak")
    if name is None:
        return False
    before = words[at - 1].group().lower() if at else ""
    if re.search(r"[0-9] ?$", text[: words[at].start()]) and said in ("hr", "fr", "ms", "mw", "m"):
        return False  # hours, catheters, milliseconds
    if before in ("near", "rue", "calle") or (said == "miss" and title != "Miss"):
        return False
    known = name.lower() in _KNOWN and name.lower() not in _EPONYMS
    dotted = text[words[at].end() : words[at].end() + 1] == "."
    if said == "p":
        return dotted and before in _POLISH and _is_name(name, text)
    if kind == "weak":
        return known and _is_name(name, text) and (len(said) > 1 or (dotted and title.isupper()))
    if known and title not in ("MS", "FR", "HR", "MW", "DL", "Sig"):
        return True
    if title.isupper() and not dotted and len(title) <= 2:
        return False  # MR and MS are no titles in texts of medicine
    return _is_name(name, text) and (kind == "title" or dotted)


def _is_full_name(text: str, words: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a known given name stands here, and another word with a capital after or before it."""
    given = words[at].group()
    said = given.lower()
    if len(given) < SHORTEST or said not in _GIVEN or said in _THINGS or not _is_name(given, text):
        return False
    before = words[at - 1].group() if at else ""
    if before.lower() in _SAINTS:
        return False
    if at and _gap(text, words, at - 1) == ", " and _is_name(before, text):
        return at == 1 or before.lower() in _KNOWN
    family = _after(text, words, at, _BLANK, through_titles=False)
    return family is not None and _is_name(family, text) and not _is_of_a_thing(text, words, family, at)


def _is_within(words: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a word in small letters stands before a name, and none that is a part of it."""
    before = words[at - 1].group() if at else ""
    return (before.islower() and before not in _BETWEEN | _SAINTS) or before == "of"


def _is_called(text: str, words: Sequence[re.Match[str]], at: int) -> bool:
    """Whether two words with capitals follow one for seeing, calling or being related to somebody."""
    said = words[at].group().lower()
    two = f"{words[at - 1].group().lower()} {said}" if at else ""
    if (said not in _CUES and two not in _CUES) or at + 2 >= len(words):
        return False
    first, second = words[at + 1].group(), words[at + 2].group()
    if not (_CUE_GAP.fullmatch(_gap(text, words, at)) and _BLANK.fullmatch(_gap(text, words, at + 1))):
        return False
    written = all(
        _is_name(word, text) and len(word) >= SHORTEST and not word.isupper() for word in (first, second)
    )
    return written and words[at].group().islower() and not _is_of_a_thing(text, words, second, at + 1)


def _is_name(word: str, text: str) -> bool:
    """Whether a word is written as names are, and is no word for a thing or a day."""
    if not word[0].isupper() or len(word) < 2 or word.lower() in _THINGS:
        return False
    return not (word.isupper() and len(word) <= ABBREVIATED and not text.isupper())


def _is_of_a_thing(text: str, words: Sequence[re.Match[str]], last: str, at: int) -> bool:
    """Whether a word for a thing follows: the syndrome, the hospital or the prize of somebody."""
    place = next(n for n in range(at + 1, len(words)) if words[n].group() == last)
    for n in range(place + 1, min(place + 3, len(words))):
        if not re.fullmatch(r"[\s-]+", _gap(text, words, n - 1)):
            return False
        if words[n].group().lower() in INSIDE_WORDS["thing"]:
            return True
    parts = last.lower().split("-")
    return len(parts) > 1 and parts[-1] in _THINGS


def _after(
    text: str,
    words: Sequence[re.Match[str]],
    at: int,
    gap: re.Pattern[str],
    *,
    through_titles: bool,
) -> str | None:
    """The word after one, past initials and what stands between the words of names."""
    for n in range(at + 1, len(words)):
        between = _gap(text, words, n - 1)
        initial = len(words[n - 1].group()) == 1
        if not gap.fullmatch(between) and not (initial and _NEXT.fullmatch(between)):
            return None
        if n == at + 1 and not between:
            return None
        word = words[n].group()
        said = word.lower()
        passed = said in _BETWEEN or (through_titles and said in _TITLES and said != "p") or len(word) == 1
        if not passed:
            return word
    return None


def _gap(text: str, words: Sequence[re.Match[str]], at: int) -> str:
    """What stands between a word and the next."""
    return text[words[at].end() : words[at + 1].start()]
