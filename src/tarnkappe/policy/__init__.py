"""Policies that enforce what leaves: who may see which tables how, decided for every query, and logged."""
