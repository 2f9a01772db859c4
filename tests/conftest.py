"""What concerns all tests: how they are spread over workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import spreading

if TYPE_CHECKING:
    from xdist.remote import Producer


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> spreading.LongestFirst | None:
    """Ours in the place of xdist's for `--dist loadfile`."""
    if config.getoption("dist") != "loadfile":
        return None
    return spreading.LongestFirst(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Collects what is long before the rest, in each worker alike."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: spreading.place(item.nodeid))
