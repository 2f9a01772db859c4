"""connectconformance (gRPC over HTTP/2), against the engine's both sides of gRPC."""
