"""What an application is asked: `.hurl` and TOML files, compiled to the engine's flows.

Knows both formats, what the engine can send and check, and what people already have (HAR, OpenAPI,
access logs). Must not know the command line; starts no process and opens no connection.
"""
