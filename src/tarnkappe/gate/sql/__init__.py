"""The SQL that the gate reads: an allow-list of selections and projections, and what clients ask about it."""
