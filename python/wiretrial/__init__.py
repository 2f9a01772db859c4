"""wiretrial: a laboratory for HTTP, WebSocket and socket stacks."""

__version__ = "0.1.0"
