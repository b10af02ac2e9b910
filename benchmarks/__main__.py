"""`make bench` and `make bench-check`."""

from __future__ import annotations

import json
import sys

from benchmarks import engines, foundation, large
from tarnkappe.bench import NAMES, bench

PARTS = {"foundation": foundation, "large": large, "engines": engines} | {name: bench(name) for name in NAMES}


def main() -> int:
    """Print what was measured; with --check, fail if a limit is exceeded."""
    measured = {name: part.run() for name, part in PARTS.items()}
    print(json.dumps(measured, indent=2))
    if "--check" not in sys.argv:
        return 0
    limits = [(name, *limit) for name, part in PARTS.items() for limit in part.LIMITS.items()]
    # What needs the reference data is left out where they are absent.
    broken = [each for each in limits if measured[each[0]].get(each[1], 0.0) > each[2]]
    for name, figure, limit in broken:
        print(f"{name}: {figure} is {measured[name][figure]:.3g}, the limit is {limit:g}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
