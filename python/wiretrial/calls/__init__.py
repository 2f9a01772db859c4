"""Calls of gRPC: what a server offers, and what messages are in bytes and in JSON.

Knows protobuf's descriptors and how they are had, from files or from a server that tells. Must not
know plans beyond the shape of a message, nor how calls are sent under load: that is the engine's.
"""

from __future__ import annotations
