"""Past results and the running study in a browser: read-only, updating by itself.

Knows results and how a report is made; must not know how anything is measured. It starts no process
and writes nothing but the index of the results.
"""

from __future__ import annotations
