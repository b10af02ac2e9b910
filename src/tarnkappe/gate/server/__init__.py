"""The PostgreSQL front of the gate: protocol, logins, catalog, and the order of questions."""
