"""The machine: facts worth recording, CPUs to pin to, and what can't work before it is tried.

Knows /proc, /sys and limits; must not know subjects, engines or studies.
"""
