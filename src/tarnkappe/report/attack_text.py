"""What an attack found, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from tarnkappe.report.check_text import attack_light, lights, victim_text
from tarnkappe.risk import AttackResult
from tarnkappe.risk.repairs import RepairProposal


def render_attack(
    source: str, results: Sequence[AttackResult], proposals: Sequence[Sequence[RepairProposal]] | None
) -> Iterator[RenderableType]:
    """What an attack found, for people."""
    for place, result in enumerate(results):
        yield lights([(attack_light(result), f"{result.title} ({source})", result.explanation)])
        yield Text(f"  The attacker knows: {result.knowledge}", style="dim")
        yield from (Text(f"  {victim_text(victim)}") for victim in result.examples)
        if result.classes > len(result.examples):
            yield Text(f"  and {result.classes - len(result.examples):,} more (--limit 0 lists all)")
        if proposals is not None and result.succeeds:
            yield Text("\n  Against it", style="bold")
            yield from (Text(f"  {_proposal(proposal)}") for proposal in proposals[place])
            if not proposals[place]:
                yield Text("  No change of the release alone stops it.")


def _proposal(proposal: RepairProposal) -> str:
    sure = "" if proposal.smallest else "; a smaller change may do"
    return f"{proposal.description} ({proposal.changed_cells:,} cells change{sure})"
