"""`wiretrial link` as a person meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import LIMIT_S, ROOT, Run, command
from tests.lab.test_isolation import DEADLINE_S, needs_root
from wiretrial.machine.links import PROFILES


def test_the_profiles_are_listed(wiretrial: Run) -> None:
    shown = wiretrial("link", "list").stdout
    assert all(name in shown and profile.meaning in shown for name, profile in PROFILES.items())
    document = json.loads(wiretrial("link", "list", "--format", "json").stdout)
    assert [profile["name"] for profile in document["profiles"]] == list(PROFILES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "dialup", "--", "true"), "there is no link 'dialup': use one of lan, wifi, vpn"),
        (("run", "vpn"), "Missing argument 'COMMAND'"),
        (("run", "vpn", "--spin", "soon", "--", "true"), "--spin soon: not a duration"),
        (("run", "vpn", "--far", "'", "--", "true"), "--far ': No closing quotation"),
        (("measure", "delay=1"), '"delay=1" is none of delay=26ms,jitter=2ms/normal'),
        (("measure", "vpn", "--bytes", "1401"), "not from 64 to the MTU up, 1400"),
        (("measure", "vpn", "-d", "1ms"), "--duration 1ms: too short: use 100ms or more"),
    ],
)
def test_wrong_words_get_one_line(wiretrial: Run, words: tuple[str, ...], said: str) -> None:
    done = wiretrial("link", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@needs_root
def test_a_command_runs_behind_the_link_and_reaches_the_far_end(
    wiretrial: Run, tmp_path: Path
) -> None:
    (tmp_path / "found.txt").write_text("over the link", encoding="utf-8")
    get = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
    server = f"{sys.executable} -m http.server 8000 --bind {{far}} --directory {tmp_path}"
    done = wiretrial(
        *("link", "run", "delay=2ms", "--far", server, "--"),
        *(sys.executable, "-c", get, "http://{far}:8000/found.txt"),
    )
    assert (done.returncode, done.stdout) == (0, "over the link\n")


@needs_root
def test_this_machine_is_the_far_end_without_another(wiretrial: Run) -> None:
    tell = "import os; print(os.environ['WIRETRIAL_NEAR'], os.environ['WIRETRIAL_FAR'])"
    done = wiretrial("link", "run", "lan", "--", sys.executable, "-c", tell)
    near, far = done.stdout.split()
    assert near.removesuffix(".201") == far.removesuffix(".1")
    assert far not in str(psutil.net_if_addrs())


@needs_root
@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_commands(wiretrial: Run, script: str, code: int) -> None:
    done = wiretrial("link", "run", "lan", "--", "sh", "-c", script)
    assert (done.returncode, done.stderr) == (code, "")


@needs_root
def test_a_far_command_that_ends_at_once_is_told(wiretrial: Run) -> None:
    done = wiretrial("link", "run", "lan", "--far", "false", "--", "true")
    assert done.returncode == 1
    assert done.stderr == (
        "wiretrial: false at the far end exited 1 before it listened: run it by hand\n"
    )


@needs_root
def test_a_command_reads_what_we_are_given(tmp_path: Path) -> None:
    done = subprocess.run(
        command("link", "run", "lan", "--", "tr", "a-z", "A-Z"),
        input="quiet",
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        timeout=LIMIT_S,
        check=True,
    )
    assert done.stdout == "QUIET"


@needs_root
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_all_of_it(number: signal.Signals) -> None:
    running = subprocess.Popen(
        command("link", "run", "lan", "--far", "sleep 600", "--", "sh", "-c", "echo up; sleep 600"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"up\n"
        below = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(number)
        expected = -number if number == signal.SIGKILL else 128 + number
        assert running.wait(DEADLINE_S) == expected
        _, alive = psutil.wait_procs(below, timeout=DEADLINE_S)
        assert alive == []


@needs_root
def test_what_is_measured_stands_beside_what_was_asked(wiretrial: Run) -> None:
    words = ("link", "measure", "delay=3ms,rate=10mbit,loss=1%", "-d", "500ms")
    document = json.loads(wiretrial(*words, "--format", "json").stdout)
    assert document["schema"] == "wiretrial-link-measure"
    for way in ("up", "down"):
        probes, rate = document["probes"][way], document["rates"][way]
        assert probes["sent"] == 500
        assert probes["least_ns"] >= probes["floor_ns"] == 3_080_000
        assert rate["offered_bits_per_second"] > 0
        account = document["account"][way]
        assert probes["sent"] - probes["received"] == account["lost"]
