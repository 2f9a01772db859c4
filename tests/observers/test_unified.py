"""A real control group of version 2, beside the process in it and the files that the kernel writes.

Where controllers are in version 1 (hybrid), a group of version 2 counts CPU time and pressure
alone. A limit that throttles is then one of version 1 (`limited`), and what version 2 tells of one
is held against recorded files (`version_2_tells_of_cpu_and_memory` in crates/observe).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.observers.conftest import Run, Start, removed
from tests.observers.test_load import MEASURED, flags, result
from tests.waiting import until
from wiretrial.engine import Engine
from wiretrial.observers import address, local
from wiretrial.observers.readings import NO_LIMIT

BURN_US = 2000
REQUESTS = 50
MILLISECOND_NS = 1_000_000
SPIN = "import os\nos.sched_setaffinity(0, {cpu})\nwhile True: pass"
PRESSURES = ("cpu", "memory", "io")


@pytest.fixture
def unified() -> Iterator[Path]:
    """A group of version 2; skipped where none can be made."""
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    points = [line.split(" ")[4] for line in mounts if " - cgroup2 " in line]
    if not points:
        pytest.skip("version 2 of control groups is not mounted here")
    folder = Path(points[0]) / f"wiretrial-test-{uuid.uuid4().hex[:8]}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group of version 2 can be made here: {error}")
    yield folder
    removed(folder)


def usage_ns(folder: Path) -> int:
    """What the kernel says that was used in the group."""
    lines = (folder / "cpu.stat").read_text(encoding="ascii").splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines}["usage_usec"] * 1000


def stalled_us(folder: Path, what: str) -> int:
    """For how long some of the group waited for it."""
    text = (folder / f"{what}.pressure").read_text(encoding="ascii")
    return int(text.splitlines()[0].rpartition("total=")[2])


def test_a_group_counts_what_its_process_spends(
    engine: Engine, burner: Start, unified: Path
) -> None:
    server = burner(BURN_US, group=unified)
    parts = address.parse_all([f"group=cgroup:{unified}", f"app=pid:{server.pid}"])
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with local.watch(parts, engine.binary, 50 * MILLISECOND_NS) as one:
        one.start()
        for _ in range(REQUESTS):
            with direct.open(server.url, timeout=10) as reply:
                assert reply.read() == b"ok"
        found = one.stop()
    assert found.failed is None
    group, app = found.parts
    spent = []
    for part in (group, app):
        first, last = part.readings[0].total_ns, part.readings[-1].total_ns
        assert first is not None
        assert last is not None
        spent.append(last - first)
        assert last - first >= REQUESTS * BURN_US * 1000
    # The same process, whose counters are read a moment apart.
    assert abs(spent[0] - spent[1]) < 5 * MILLISECOND_NS
    end = group.readings[-1]
    assert end.total_ns is not None
    assert end.user_ns is not None
    assert end.system_ns is not None
    # All three are in microseconds, and rounded.
    assert group.cpu_resolution_ns == 1000
    assert abs(end.total_ns - end.user_ns - end.system_ns) <= 2000
    assert (end.processes, end.throttled_periods or 0) == (1, 0)
    # What came before it was moved into the group is its own alone.
    assert end.total_ns <= usage_ns(unified) <= server.ended()


def test_its_pressure_is_the_kernel_s(engine: Engine, unified: Path) -> None:
    if not (unified / "cpu.pressure").exists():
        pytest.skip("this kernel tells no pressure of a control group")
    # Two that want one CPU.
    spin = SPIN.format(cpu={min(os.sched_getaffinity(0))})
    rivals = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(2)]
    try:
        for rival in rivals:
            (unified / "cgroup.procs").write_text(str(rival.pid), encoding="ascii")
        until(lambda: stalled_us(unified, "cpu") > 10_000)
        before = {what: stalled_us(unified, what) for what in PRESSURES}
        # The end of its input is its own: it tells its first and its last counters.
        said = subprocess.run(
            [str(engine.binary), "observe", "--cgroup", f"app={unified}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        ).stdout
        after = {what: stalled_us(unified, what) for what in PRESSURES}
    finally:
        for rival in rivals:
            rival.kill()
            rival.wait()
    (target,) = json.loads(said.splitlines()[-1])["targets"]
    found = target["cgroup"]["pressure"]
    for what in PRESSURES:
        assert before[what] <= found[what]["some_us"] <= after[what], what
    assert found["cpu"]["some_us"] > 10_000
    assert target["processes"]["count"] == 2


def test_a_load_tells_the_cost_and_what_the_group_lacks(
    wiretrial: Run, burner: Start, unified: Path, tmp_path: Path
) -> None:
    server = burner(BURN_US, group=unified)
    done = wiretrial(
        *("load", server.url, "-c", "1", "--rate", "100", "-d", "2s"),
        *flags("--server", f"db=cgroup:{unified}"),
    )
    assert done.returncode in MEASURED, done.stderr
    found = result(tmp_path)
    (db,) = found["servers"]
    spent_ns = db["cpu_ns_per_message"] * db["replies"]
    # Replies are known for intervals of 100 ms, and the readings lie within one.
    assert spent_ns >= 0.9 * BURN_US * 1000 * db["replies"]
    assert spent_ns <= server.ended()
    assert (db["restarts"], db["has_ended"], db["cpu_limit"]) == (0, False, None)
    assert not db["throttled_share"]
    notes = " ".join(note for host in found["server_hosts"] for note in host["notes"])
    has_memory, has_cpu = ((unified / name).exists() for name in ("memory.current", "cpu.max"))
    assert (db["memory"] == "control group") is has_memory
    assert ("memory of its control group" in notes) is not has_memory
    assert (NO_LIMIT in notes) is not has_cpu
    assert db["memory_bytes"] > 1e6
