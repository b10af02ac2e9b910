"""Anonymization inside the query: operators, their rewrite rules, their reading and printing."""
