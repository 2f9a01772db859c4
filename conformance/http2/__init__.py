"""h2spec and h2specd (RFC 7540, RFC 7541), against the engine's both sides of HTTP/2."""
