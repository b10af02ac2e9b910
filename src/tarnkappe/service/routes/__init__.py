"""The REST API: each file has the routes of one part; what they do is done by the house."""

from tarnkappe.service.routes import accounts, files, jobs, parts, session

ROUTERS = (session.router, accounts.router, files.router, jobs.router, parts.router)

__all__ = ["ROUTERS"]
