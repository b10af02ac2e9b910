"""Packages from cohorts: all patients are cut once into small groups that everything told about them follows.

Who knows what everybody looks like learns from all packages together what one table tells: the records of
each cohort, and not whose they are. `docs/explanation/cohorts.md` has the proof.
"""
