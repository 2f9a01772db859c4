"""One load from many machines: agents that Dask.distributed reaches, and one result of theirs.

Knows how a plan is divided, begun at one instant, followed and put together again; must not know
what it is measured for, nor how a result is shown.
"""
