"""Rules that are learned from replies, where nobody says what a right reply is.

Knows sampled replies and what they have in common. Must not know how they were asked for, nor where
a rule is applied: no process, no connection.
"""

from wiretrial.traffic.learning.rules import Learned, NotLearned, learn
from wiretrial.traffic.learning.samples import Sample

__all__ = ["Learned", "NotLearned", "Sample", "learn"]
