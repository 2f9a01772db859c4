"""Hurl's file format, as far as a load needs it: requests, right replies, captures.

Knows the text and its syntax; must not know flows, data or the engine.
"""
