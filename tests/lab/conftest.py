"""What the laboratory's tests share: the real engine, and trials that it really measured."""

from __future__ import annotations

from collections.abc import Callable

import psutil
import pytest

from tests.lab.whole_studies import primed
from wiretrial.engine import Engine
from wiretrial.studies import matrix, registry
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Study


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine that belongs to this laboratory. A test that needs it fails without it."""
    return Engine.find()


@pytest.fixture(scope="module")
def document(request: pytest.FixtureRequest) -> Document:
    """The file of the study that the module names."""
    return registry.find(request.module.NAME).document


@pytest.fixture(scope="module")
def study(request: pytest.FixtureRequest, document: Document) -> Study:
    """The study that the module names, whole."""
    return primed(document, matrix.expand(request.module.NAME, document, command="-", seed=1))


Children = Callable[[], list[psutil.Process]]


@pytest.fixture
def children() -> Children:
    """What a test has running below it; servers that several tests share were there before."""
    before = _below()
    return lambda: [child for child in _below() if child not in before]


def _below() -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE
    ]
