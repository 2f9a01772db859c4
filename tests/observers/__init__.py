"""Servers that somebody else runs: named, watched, and what they cost."""
