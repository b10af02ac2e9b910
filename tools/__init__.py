"""Programs for contributors, which no user needs."""
