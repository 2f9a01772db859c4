"""Every warning with its cause and remedy, and the rules that raise it from a trial's record.

Knows what a reader of a result must beware of; must not know how a report looks or how a trial is
run. All functions are pure.
"""

from wiretrial.warnings.catalogue import CATALOGUE, Code, Entry, warn
from wiretrial.warnings.controls import of_controls
from wiretrial.warnings.rules import FEWEST_TRIALS, of_occasions, of_study, of_trial

__all__ = [
    "CATALOGUE",
    "FEWEST_TRIALS",
    "Code",
    "Entry",
    "of_controls",
    "of_occasions",
    "of_study",
    "of_trial",
    "warn",
]
