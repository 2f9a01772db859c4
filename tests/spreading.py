"""How `make test-python` spreads the tests over its workers: a file each, and the longest first.

By itself xdist begins with the files of most tests, which are the quick ones: what takes a minute
would begin last, and be waited for. Knows which files are long; whoever adds one of more than 20 s
adds it here.
"""

from __future__ import annotations

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

LONGEST = (
    "tests/docs/test_start.py",
    "tests/fleet/test_fleet.py",
    "tests/fleet/test_network.py",
    "tests/cli/test_compare_own.py",
    "tests/lab/test_verify.py",
    "tests/stats/test_change.py",
    "tests/cli/test_site.py",
    "tests/publish/",
    "tests/report/test_report_ways.py",
    "tests/report/test_report_brief.py",
    "tests/report/test_report_parity.py",
    "tests/observers/test_ssh_load.py",
    "tests/cli/test_bad_input.py",
    "tests/cli/test_advise.py",
    "tests/cli/test_runs.py",
    "tests/metrics/test_live.py",
    "tests/lab/test_study.py",
    "tests/lab/test_starting.py",
    "tests/traffic/test_json_schema.py",
    "tests/interop/test_grpc.py",
    "tests/calls/test_peer.py",
    "tests/apps/test_compared.py",
    "tests/lab/test_killed.py",
)
"""Begun in this order. A folder is one unit: its files share what they make once a session."""


def unit(nodeid: str) -> str:
    """What goes to one worker as a whole with this test."""
    file = nodeid.partition("::")[0]
    return next((name for name in LONGEST if name.endswith("/") and file.startswith(name)), file)


def place(nodeid: str) -> int:
    """Where its unit stands in the order."""
    found = (number for number, name in enumerate(LONGEST) if nodeid.startswith(name))
    return next(found, len(LONGEST))


class LongestFirst(LoadFileScheduling):  # type: ignore[misc]
    """Gives out units in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
