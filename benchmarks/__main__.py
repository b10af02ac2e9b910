"""`make bench` and `make bench-check`."""

from __future__ import annotations

import json
import sys

from benchmarks import foundation


def main() -> int:
    """Print what was measured; with --check, fail if a limit is exceeded."""
    measured = foundation.run()
    print(json.dumps({"foundation": measured}, indent=2))
    if "--check" not in sys.argv:
        return 0
    broken = [name for name, limit in foundation.LIMITS.items() if measured[name] > limit]
    for name in broken:
        print(f"{name} is {measured[name]:.3g}, the limit is {foundation.LIMITS[name]:g}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
