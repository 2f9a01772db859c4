"""Subjects: what a subject is, where it is found, how it is installed, started, verified, watched.

Knows folders with a `subject.toml` and processes; must not know studies, plans or results.
"""
