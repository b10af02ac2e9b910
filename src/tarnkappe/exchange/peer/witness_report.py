"""What an audit says about witnesses: up to which entry others would notice that the log was rewritten."""

from __future__ import annotations

import dataclasses

from tarnkappe.exchange.peer.witnesses import CONTRADICTED, Witnesses
from tarnkappe.state import AuditLog


@dataclasses.dataclass(frozen=True)
class WitnessReport:
    """Who has seen how much of the log.

    Attributes:
        number: how many entries the log has.
        seen: the last entry that each other institution has witnessed, and when.
        wrong: what contradicts; nothing if all is well.
    """

    number: int
    seen: dict[str, tuple[int, str]]
    wrong: tuple[str, ...]

    @property
    def text(self) -> str:
        """The same in sentences."""
        last = max((number for number, _ in self.seen.values()), default=0)
        lines = []
        if last:
            who = ", ".join(
                f"by {name} on {time[:16].replace('T', ' ')} ({number})"
                for name, (number, time) in sorted(self.seen.items(), key=lambda item: -item[1][0])
            )
            lines.append(f"Entries 1 to {last} are witnessed: {who}.")
        if last < self.number:
            alone = f"Entries {last + 1} to {self.number} are" if last else f"All {self.number} entries are"
            lines.append(
                f"{alone} known to this institution alone: whoever has its keys could rewrite these, and "
                "nobody would notice."
            )
        return "\n".join(lines)


def witness_report(witnesses: Witnesses, log: AuditLog) -> WitnessReport:
    """Compare the log, which must have been verified, with what others have signed of it."""
    entries = list(log.entries())
    before = len(entries) - log.end[0]  # entries of an earlier version, which have no leaves of their own
    seen, wrong = {}, []
    for name, said in witnesses.seen().items():
        if log.root_at(said["size"]) == said["root"]:
            seen[name] = (before + said["size"], said["time"])
        else:
            wrong.append(f"'{name}' has signed that it saw another log of this institution than this one")
    kept = witnesses.contradictions()
    wrong += [
        f"the log of '{each['institution']}' contradicts what was shown of it before"
        for each in kept
        if each["accepted_by"] is None
    ]
    there = {each["id"] for each in kept}
    wrong += [
        f"the evidence that was kept about the log of '{entry.details['institution']}' is gone"
        for entry in entries
        if entry.event == CONTRADICTED and entry.details.get("evidence") not in there
    ]
    return WitnessReport(len(entries), seen, tuple(wrong))
