"""Patients who do not exist, in two sources with typing errors, to measure linkage with.

Names are as unevenly frequent as real ones, there are families, twins and namesakes, some have moved, and
the second source has one or two typing errors in every record.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from functools import cache

from tarnkappe.pseudonym.identity import Identity
from tarnkappe.table.examples.draw import zipf
from tarnkappe.table.examples.lists import names, places

FIELDS = ("surname", "given", "born", "sex", "postcode")
TWINS, SIBLINGS, NAMESAKES, MOVED = 0.02, 0.15, 0.001, 0.1
COMMON_SHARE = 0.25

KEYBOARD = ("qwertzuiopü", "asdfghjklöä", "yxcvbnm")
FIRST_HALVES = (
    "Achen Ahrn Bern Birk Bran Brett Buchen Dahl Diet Eber Ecken Eich Eisen Falken Feld Felsen Frei Gold "
    "Grün Hager Hasel Hecken Hirsch Hohen Holz Kalten Kirch Kron Lampert Lauter Linden Lohr Mahl Mitter "
    "Mühl Nadel Neu Ober Otten Pfann Quanten Rauch Reich Rosen Rott Sandt Schell Schön Sieben Sonnen "
    "Stein Stolz Tannen Thal Ullen Unter Wald Weiden Wester Winkel Wolfs Zeller Zwingen"
)
SECOND_HALVES = (
    "bach baum beck berg berger brecht brink bruch burg dorf dorfer egger er feld felder graf haus hauser "
    "hof hofer holz huber kamp kämper ing lein mann mayr meier meister müller reuter rieder schmidt seder "
    "stätter stein thaler wald wanger weg"
)


@dataclasses.dataclass(frozen=True)
class TwoSources:
    """The same people in two sources, and who is who: numbers of the first list and of the second."""

    clinic: list[Identity]
    registry: list[Identity]
    same: list[tuple[int, int]]


def two_sources(size: int, seed: int, shared: float = 0.5, errors: tuple[int, int] = (1, 2)) -> TwoSources:
    """Two sources of a size with a share of the first one's patients also in the second."""
    draw = random.Random(seed)
    both = int(size * shared)
    people = _population(2 * size - both, draw)
    draw.shuffle(people)
    clinic = people[:size]
    registry = [
        (_with_errors(_moved(person, draw), draw, draw.randint(*errors)), number)
        for number, person in enumerate(people)
        if number < both or number >= size
    ]
    draw.shuffle(registry)
    same = [(number, place) for place, (_, number) in enumerate(registry) if number < both]
    return TwoSources(
        [_identity(person) for person in clinic], [_identity(person) for person, _ in registry], same
    )


def children_of_one_name(made: TwoSources, seed: int, share: float = 0.04) -> list[tuple[Identity, Identity]]:
    """Parents who are only in the clinic, with a child of the same name, sex and postcode: not one person."""
    draw, both = random.Random(seed + 99), {one for one, _ in made.same}
    parents = [person for number, person in enumerate(made.clinic) if number not in both]
    draw.shuffle(parents)
    families: list[tuple[Identity, Identity]] = []
    for parent in parents[: int(share * len(made.clinic))]:
        surname, given, born, sex, postcode = parent
        year = int(str(born)[:4]) + draw.randint(18, 40)
        day = f"{year}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        families.append((parent, (surname, given, day, sex, postcode)))
    return families


@dataclasses.dataclass(frozen=True)
class _Person:
    surname: str
    given: str
    born: str
    sex: str
    postcode: str


def _identity(person: _Person) -> Identity:
    return dataclasses.astuple(person)


def _population(size: int, draw: random.Random) -> list[_Person]:
    surnames = _Surnames(draw)
    people: list[_Person] = []
    while len(people) < size:
        first = _person(surnames.draw(), _birthday(draw), _postcode(draw), draw)
        people.append(first)
        luck = draw.random()
        if luck < TWINS:
            twin = _person(first.surname, first.born, first.postcode, draw)
            if twin.given != first.given:
                people.append(twin)
        elif luck < TWINS + SIBLINGS:
            people.append(_person(first.surname, _birthday(draw), first.postcode, draw))
        elif luck < TWINS + SIBLINGS + NAMESAKES:
            people.append(dataclasses.replace(first, postcode=_postcode(draw)))
    return people[:size]


class _Surnames:
    """A quarter have one of the common names, the others one of thousands, most of them rare."""

    def __init__(self, draw: random.Random) -> None:
        origins = " ".join(families for _, _, families in names().origins.values()).split()
        self._common = names().families.split() + origins
        self._rare = [first + second for first in FIRST_HALVES.split() for second in SECOND_HALVES.split()]
        random.Random(0).shuffle(self._rare)
        self._weights = {name: zipf(len(some), 0.8).cumsum().tolist() for name, some in self._lists()}
        self._draw = draw

    def _lists(self) -> list[tuple[str, list[str]]]:
        return [("common", self._common), ("rare", self._rare)]

    def draw(self) -> str:
        name, some = self._lists()[self._draw.random() >= COMMON_SHARE]
        return self._draw.choices(some, cum_weights=self._weights[name])[0]


def _person(surname: str, born: str, postcode: str, draw: random.Random) -> _Person:
    sex = draw.choice("fm")
    cohort = sum(int(born[:4]) >= year for year in names().cohorts[1:])
    given, weights = _given_names(sex, cohort if draw.random() < 0.5 else None)
    return _Person(surname, draw.choices(given, cum_weights=weights)[0], born, sex, postcode)


@cache
def _given_names(sex: str, cohort: int | None) -> tuple[list[str], list[float]]:
    """The names of a time, or of all times and places, with how frequent they are."""
    lists = names().women if sex == "f" else names().men
    if cohort is None:
        given = [*lists, *(origin[0 if sex == "f" else 1] for origin in names().origins.values())]
    else:
        given = [lists[cohort]]
    found = " ".join(given).split()
    return found, zipf(len(found), 0.5).cumsum().tolist()


def _birthday(draw: random.Random) -> str:
    day = datetime.date(1930, 1, 1) + datetime.timedelta(days=int(draw.betavariate(1.6, 1.4) * 365.25 * 93))
    return day.isoformat()


def _postcode(draw: random.Random) -> str:
    place = draw.choices(places(), [place.share for place in places()])[0]
    return f"{place.first + place.step * draw.randrange(place.postcodes):05}"


def _moved(person: _Person, draw: random.Random) -> _Person:
    return dataclasses.replace(person, postcode=_postcode(draw)) if draw.random() < MOVED else person


def _with_errors(person: _Person, draw: random.Random, count: int) -> _Person:
    for _ in range(count):
        field = draw.choices(("surname", "given", "born", "postcode"), (38, 32, 20, 10))[0]
        before = getattr(person, field)
        after = before
        while after == before:
            wrong = {"born": _wrong_date, "postcode": _wrong_digits}.get(field, _wrong_name)
            after = wrong(before, draw)
        person = dataclasses.replace(person, **{field: after})
    return person


def _wrong_name(name: str, draw: random.Random) -> str:
    place = draw.randrange(len(name))
    letter = name[place]
    kind = draw.choice(("leave out", "twice", "neighbour", "exchange", "umlaut"))
    if kind == "leave out" and len(name) > 2:
        return name[:place] + name[place + 1 :]
    if kind == "twice":
        return name[:place] + letter + name[place:]
    if kind == "exchange" and place:
        return name[: place - 1] + letter + name[place - 1] + name[place + 1 :]
    if kind == "umlaut":
        return name.replace("ü", "ue").replace("ö", "oe").replace("ä", "ae").replace("ß", "ss")
    row = next((row for row in KEYBOARD if letter.lower() in row), KEYBOARD[0])
    at = max(row.find(letter.lower()), 0) + draw.choice((-1, 1))
    return name[:place] + row[at % len(row)] + name[place + 1 :]


def _wrong_digits(digits: str, draw: random.Random) -> str:
    place = draw.randrange(len(digits))
    if draw.random() < 0.4 and place:
        return digits[: place - 1] + digits[place] + digits[place - 1] + digits[place + 1 :]
    return digits[:place] + draw.choice("0123456789") + digits[place + 1 :]


def _wrong_date(date: str, draw: random.Random) -> str:
    """Another date that there is: a form would not take 31 February."""
    year, month, day = date.split("-")
    if draw.random() < 0.2:
        month, day = day, month
    else:
        digits = _wrong_digits(year + month + day, draw)
        year, month, day = digits[:4], digits[4:6], digits[6:]
    try:
        datetime.date(int(year), int(month), int(day))
    except ValueError:
        return date
    return f"{year}-{month}-{day}"
