"""Tarnkappe: use personal tabular data without exposing the person."""
