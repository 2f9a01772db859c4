"""This engine beside its peers and beside the least that any of them can cost."""
