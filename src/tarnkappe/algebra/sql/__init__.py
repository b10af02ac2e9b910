"""Queries with anonymization operators as SQL: reading into plans, and printing plans."""
