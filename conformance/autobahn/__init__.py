"""The Autobahn test suite for WebSocket (RFC 6455, RFC 7692), against the engine's both sides."""
