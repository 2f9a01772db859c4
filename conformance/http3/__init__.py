"""h3spec (RFC 9000, 9001, 9114, 9204), against the reference server."""
