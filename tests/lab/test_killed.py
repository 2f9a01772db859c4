"""A laboratory that is killed at any moment loses the trial in progress, and nothing else.

`WIRETRIAL_KILLS` says how often, `WIRETRIAL_KILLS_SEED` at which moments.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.lab.test_study import scenario, tiny
from wiretrial import launch
from wiretrial.engine import Engine
from wiretrial.results.index import INDEX_FILE, Index
from wiretrial.results.store import ResultsFolder, read_trial
from wiretrial.studies import runner
from wiretrial.studies.spec import parse

KILLS = int(os.environ.get("WIRETRIAL_KILLS", "6"))
SEED = int(os.environ.get("WIRETRIAL_KILLS_SEED", "1"))
MOST_S = 2.0
"""What is taken for the length of a trial before there was one, and at most: the first one told may
have waited for its server's verification."""
MOST_WHOLE = 2
"""Trials that may be done before a kill. The first of them begins with the preparation."""

LABORATORY = """
import sys
from pathlib import Path
from wiretrial.engine import Engine
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import events, runner
from wiretrial.studies.spec import parse

results = ResultsFolder.open(Path(sys.argv[1]))
print("begun", flush=True)
for event in runner.run(parse(results.document()), results, Engine.find()):
    if isinstance(event, events.TrialDone):
        print("done", flush=True)
    elif isinstance(event, events.TrialFailed | events.Unavailable):
        print(event.reason, flush=True)
"""


@dataclass
class Kept:
    """What was found after each kill."""

    results: ResultsFolder
    digests: dict[str, str] = field(default_factory=dict)

    def look(self) -> int:
        """How many trials are new. Old files are as they were, new ones are whole."""
        found = {path.name: path for path in self.results.paths()}
        for name, digest in self.digests.items():
            assert digest_of(found[name]) == digest
        new = found.keys() - self.digests.keys()
        for name in new:
            read_trial(found[name])
            self.digests[name] = digest_of(found[name])
        return len(new)


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def killed(results: ResultsFolder, whole: int, part: float) -> int:
    """Goes on with the study, and is killed. How many trials it told to be done.

    The moment: after so many whole trials, and a part of the time that the last of them took.
    """
    with subprocess.Popen(
        [sys.executable, "-c", LABORATORY, str(results.folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(launch.__file__).parent.parent)},
    ) as laboratory:
        assert laboratory.stdout is not None
        assert laboratory.stdout.readline() == b"begun\n"
        last, took = time.monotonic(), MOST_S
        for _ in range(whole):
            assert laboratory.stdout.readline() == b"done\n"
            last, took = time.monotonic(), min(time.monotonic() - last, MOST_S)
        # Whatever happens in this time is what the kill is to hit: nothing is awaited.
        time.sleep(part * took)
        laboratory.kill()
        told = laboratory.stdout.read().decode().splitlines()
    assert set(told) <= {"done"}, told
    return whole + len(told)


def spoil(index: Path, how: int) -> None:
    """Leaves the index as it is, deletes it, or makes it no database."""
    if how == 1:
        index.unlink(missing_ok=True)
    elif how == 2:
        index.write_bytes(b"this is no database" * 100)


@pytest.mark.timeout(60 + 30 * KILLS)
def test_kills_at_any_moment_lose_no_stored_trial(engine: Engine, tmp_path: Path) -> None:
    study = tiny(
        scenario("WebSocket", "reference", "ws", "ws-echo"),
        scenario("HTTP", "reference", "http", "http-echo"),
        trials=20 * KILLS,
        duration_ns=50_000_000,
    ).model_copy(update={"warmup_allowance_ns": 0})
    results = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    kept, moments, lost = Kept(results), random.Random(SEED), 0
    for number in range(KILLS):
        told = killed(results, moments.randint(0, MOST_WHOLE), moments.random())
        new = kept.look()
        # One may be stored and not told; whatever was told is there.
        assert new - told in (0, 1)
        lost += new == told
        spoil(tmp_path / INDEX_FILE, number % 3)
        index = Index(tmp_path)
        assert index.problems == []
        assert {Path(row.path).name for row in index.rows()} == set(kept.digests)
    print(f"{KILLS} kills: {len(kept.digests)} trials kept, {lost} in progress lost")

    blocks = 1 + max((trial.block for trial in results.trials()), default=0)
    shorter = parse(results.document()).model_copy(update={"trials": blocks})
    list(runner.run(shorter, results, engine))
    kept.look()
    done = [(trial.block, trial.scenario.name) for trial in results.trials()]
    assert sorted(done) == sorted((b, n) for b in range(blocks) for n in ("WebSocket", "HTTP"))
    assert list(runner.run(shorter, results, engine)) == []
    assert len(Index(tmp_path).rows()) == len(done)
