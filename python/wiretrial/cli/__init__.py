"""The command `wiretrial`: one file per command, and what they share.

Knows words, flags and the terminal; must not know how anything is measured or computed.
"""
