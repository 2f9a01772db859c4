"""Traffic files from what people already have: curl commands, recordings, logs, descriptions.

Knows those formats, and how a person would write the same as `.hurl` and TOML. Must not know what
the engine makes of it: what is written here is compiled like any other file.
"""
