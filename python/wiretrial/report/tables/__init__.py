"""A report's tables, each made once: rows and columns as blocks, for every form of the report.

Knows figures, units and words; must not know how a table is drawn.
"""
