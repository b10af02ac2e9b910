"""The yardstick and the stopwatch of all measurements."""

from __future__ import annotations

from tarnkappe_bench.yardstick import REPEATS, seconds, yardstick

__all__ = ["REPEATS", "seconds", "yardstick"]
