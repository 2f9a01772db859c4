"""Statistics: pure functions over numbers, each with its source.

Knows arithmetic; must not know trials, files, clocks or the rest of the project.
"""
