"""A contract in words: all that people agree to, generated from all its fields.

Nothing that the digest binds is left out, and names are shown so that they cannot pass for sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.federation.ciphers.paillier import RECOMMENDED_BITS
from tarnkappe.federation.contract import Contract, Partitioning, Protocol, Reveal
from tarnkappe.federation.leakage import MEASURED, foretell
from tarnkappe.federation.printable import printable, printable_name

RECOMMENDED_K = 5
RECOMMENDED_SUPPRESSION = 0.2

ROWS = (
    "Rows are counted, not people: read 'everybody' in a promise as 'every row'. Who is known to several "
    "sites "
    "counts several times."
)
SUBTRACTION = (
    "A site that takes its own rows out of the release may find others in classes smaller than promised."
)
VERTICAL_SUBTRACTION = "Every site knows its own columns of everybody in the release."


def describe(contract: Contract) -> str:
    """A contract in words, with what it does not protect, all its fields, and what every party will learn."""
    parties = ", ".join(map(printable_name, contract.parties))
    helper = f", helper {printable_name(contract.helper)}" if contract.helper else ""
    lines = [
        f"protocol {contract.protocol}, {contract.distribution} data of {parties}{helper}",
        "columns: " + ", ".join(f"{printable_name(c.name)} ({c.role})" for c in contract.columns),
        *(f"promise: {printable(model.promise)}" for model in contract.models),
        f"at most {contract.suppression_limit:.6%} of all rows are suppressed".replace(".000000", ""),
        "not protected",
        *(f"  {sentence}" for sentence in not_protected(contract)),
    ]
    weak = weaknesses(contract)
    if weak:
        lines += ["weaker than recommended", *(f"  {sentence}" for sentence in weak)]
    lines += ["every field of the contract", *(f"  {line}" for line in fields(contract))]
    for party, learned in foretell(contract).items():
        lines += [f"{printable_name(party)} will learn", *(f"  {printable(each)}" for each in learned)]
    return "\n".join([*lines, f"digest {contract.digest.hex()}"])


def not_protected(contract: Contract) -> list[str]:
    """What the contract leaves open, in sentences for those who agree to it."""
    return [*_decodable(contract), *_people(contract), *_insiders(contract), *_honesty(contract)]


def _computed(contract: Contract) -> list[str]:
    three = ", ".join(map(printable_name, contract.compute))
    told = [
        f"{three} compute on bits that are random to each of them alone. Any two of them together can read "
        "everything.",
        "They are trusted to keep to the protocol: who does not can turn what is opened into the answer to "
        "another question.",
        "How many rows each site has is told to all.",
    ]
    if contract.reveal is Reveal.TESTS:
        told.append(
            "All learn which levels satisfy. Who knows all rows but one may learn about the last one from it."
        )
    return told


def _decodable(contract: Contract) -> list[str]:
    if contract.is_oblivious:
        return _computed(contract)
    who = printable_name(contract.helper or contract.master)
    measured = MEASURED[contract.protocol]
    masked = ["Made-up rows do not change that."] if contract.protocol.is_masked else []
    ring = (
        ["Every party of the ring gets ciphertexts of another one, which keep frequencies too."]
        if contract.protocol in (Protocol.RING, Protocol.MASKED_RING)
        else []
    )
    return [
        f"{who} sees a ciphertext for every cell. Who knows how often values occur in such a population can "
        f"read them: {measured}. Encryption does not protect against this.",
        *masked,
        *ring,
        "That was measured on other people. What it reads of the rows of a site is shown by "
        "`tarn party show DIGEST --leakage` there, before the site agrees.",
    ]


def _people(contract: Contract) -> list[str]:
    if contract.key is not None:
        return [
            "Within each group of sites rows of one person are joined by the key; spelling variants are not."
        ]
    if not contract.person:
        return [ROWS]
    names = ", ".join(map(printable_name, contract.person))
    if contract.is_oblivious:
        return [
            f"Nobody has two rows, by {names} as written, within a site or across sites: the run ends if "
            "somebody has, and all learn that. Spelling variants are not found."
        ]
    return [ROWS, f"Within a site nobody has two rows, by {names} as written; across sites nobody looks."]


def _insiders(contract: Contract) -> list[str]:
    if contract.distribution is Partitioning.VERTICAL:
        return [VERTICAL_SUBTRACTION]
    if contract.insiders:
        who = "a site" if contract.insiders == 1 else f"a coalition of {contract.insiders} sites"
        return [
            f"If {who} takes out its own rows, what is left of each class is nothing or as large and as "
            "diverse as promised. Larger coalitions may find less."
        ]
    return [f"{SUBTRACTION} Each site is shown a number of its own by --leakage."]


def _honesty(contract: Contract) -> list[str]:
    who = printable_name(contract.helper or contract.master)
    chosen = (
        "That no other levels lose less rests on the computing parties; what is lost is told to nobody."
        if contract.is_oblivious
        else "That the levels lose least is checked by all parties."
        if contract.check_master
        else f"That no other levels lose less, and the loss itself, is the word of {who}."
    )
    return [
        "Each site checks that its own rows are in the release as it sent them, and that all got the same "
        "release. Nobody checks whether the rows of others are true.",
        chosen,
    ]


def weaknesses(contract: Contract) -> list[str]:
    """What is below the recommendation."""
    found = []
    if contract.weak_ciphers:
        found.append("weak_ciphers: ciphers that can be broken are allowed. For trials only.")
    if GROUPS[contract.group].comparison_only:
        found.append(f"group {contract.group}: it is there to compare figures.")
    if contract.protocol.is_masked and contract.counter_bits < RECOMMENDED_BITS:
        found.append(f"counter_bits {contract.counter_bits}: {RECOMMENDED_BITS} are recommended.")
    if contract.class_size < RECOMMENDED_K:
        found.append(f"classes of at least {contract.class_size} rows: {RECOMMENDED_K} are recommended.")
    if contract.suppression_limit > RECOMMENDED_SUPPRESSION:
        found.append(
            f"suppression_limit {contract.suppression_limit:g}: much may be left out of the release."
        )
    if contract.shared_tests:
        found.append("shared_tests: every site gets the key of the counters.")
    if contract.fill_absent:
        found.append("fill_absent: who is missing at a site is visible to the helper.")
    if contract.search.seconds is not None:
        found.append("search: it ends after a time, with levels that need not be the best.")
    return found


def fields(contract: Contract) -> Iterator[str]:
    """Every field, one a line, as the digest binds it."""
    for name, value in contract.as_document().items():
        if name == "columns":
            for column in value:
                yield f"column {printable_name(column['name'])}: {_shown(column)}"
        else:
            yield f"{name}: {_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{printable_name(key)} {_shown(each)}" for key, each in value.items())
    if isinstance(value, list):
        return "[" + "; ".join(map(_shown, value)) + "]"
    if isinstance(value, str):
        return "'" + printable(value).replace("'", "\\u{27}") + "'"  # two names never look like one
    return "none" if value is None else str(value)
