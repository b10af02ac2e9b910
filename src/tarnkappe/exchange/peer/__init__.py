"""Peer to peer: institutions ask each other over mutual TLS, whoever is offline later."""

from tarnkappe.exchange.peer.outbox import Outbox, Sent
from tarnkappe.exchange.peer.service import ExchangeService
from tarnkappe.exchange.peer.wishes import Wishes

__all__ = ["ExchangeService", "Outbox", "Sent", "Wishes"]
