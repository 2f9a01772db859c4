"""Results over time: points of a scenario, changes of their level, and what they are called.

Knows trials, machines and figures; must not know where results are kept or how pages are served.
"""
