"""Studies: a question with its scenarios, run as interleaved trials that can be resumed.

Knows subjects, the engine, the machine and how a trial is judged; must not know how anything is
shown.
"""
