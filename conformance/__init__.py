"""Suites that other people wrote, run against the engine; what they must say is committed.

Knows how to get a suite, run it and compare; must not know how the engine works inside.
"""
