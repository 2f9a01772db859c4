"""A team's store of results: the same files as in folders, in a PostgreSQL that several reach.

Knows PostgreSQL, and what of a result is worth storing; must not know what was typed. The files are
the truth there, too: the index beside them is made from them when they come in. Needs psycopg, so
nothing here is imported before it is known to be installed.
"""
