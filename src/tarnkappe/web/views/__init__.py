"""The pages that the server writes as a whole, one file each; importing this registers them all."""

from tarnkappe.web.views import audit, kept, me, people, run, runs, utility

__all__ = ["audit", "kept", "me", "people", "run", "runs", "utility"]
