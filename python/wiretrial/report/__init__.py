"""Reports: from trials to a model, and from the model to a page, pictures and text.

Knows trials and statistics; must not know how anything was run or stored. It starts no process and
reads no file but its own style sheet.
"""

from __future__ import annotations

from wiretrial.report.document import load_json, load_text

__all__ = ["load_json", "load_text"]
