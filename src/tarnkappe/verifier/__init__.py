"""The independent checker of certificates: one file that uses nothing of this package (`checker.py`)."""
