"""Kept studies and own results as a folder of pages that can be published.

Knows reports, and what a subject says about itself; must not know how anything is measured. It
writes one folder, starts no process, and no page of it loads anything from elsewhere.
"""

from __future__ import annotations
