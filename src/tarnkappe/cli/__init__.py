"""The command line: `tarn`."""

from tarnkappe.cli.main import main

__all__ = ["main"]
