"""Who was asked for and has no figure: `compare`, `study run` and `gate` say so and fail."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from tests import reference
from tests.cli.conftest import Run
from tests.cli.test_runs import results_of
from tests.lab.test_subjects import OWN
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, EXIT_GATE

MISSING = """
title = "Who is there?"
question = "Who can be had?"
subjects = ["reference", "./gone"]
trials = 1
duration = "300ms"
warmup = "100ms"
adoption = true
starts = 1

[[workload]]
name = "produce"
protocol = "http"
contract = "http-echo"
connections = 4
requests_each = 50
"""
GONE = """
name = "gone"
kind = "server"
summary = "It can't be had"
language = "none"
homepage = "https://example.org"
licence = "MIT"
speaks = ["http"]
contracts = ["http-echo"]
build = [["test", "-n", "{prefix}"]]

[version]
command = ["true"]
pattern = "."

[install]
remedy = "name its folder with --prefix DIR"

[configurations.default]
description = "None."
command = ["true"]
"""


def test_a_study_without_one_of_its_subjects_fails_and_names_it(
    wiretrial: Run, tmp_path: Path
) -> None:
    for name, text in (("mine/study.toml", MISSING), ("gone/subject.toml", GONE)):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    reference.put_into(tmp_path / "cache", Engine.find())
    cache = {"WIRETRIAL_CACHE": str(tmp_path / "cache")}
    done = wiretrial("study", "run", "./mine", "--seed", "1", **cache)
    assert done.returncode == EXIT_FAILED, done.stderr
    assert "3 scenarios x 1 trial, 1 start each of 2 servers: about" in done.stderr
    assert "left out: gone is unavailable" in done.stderr
    assert "name its folder with --prefix DIR" in done.stderr
    missing, remedy = done.stderr.splitlines()[-2:]
    assert missing.startswith(
        "missing: ./gone was asked for and has no figure: gone is unavailable"
    )
    assert remedy.startswith("try again with: wiretrial study run --resume results/mine-")
    assert re.search(r"gone was not measured: gone is unavailable", done.stdout)
    folder = results_of(tmp_path).folder
    told = json.loads(wiretrial("report", str(folder), "--format", "json").stdout)
    assert [(row["subject"], row["licence"]) for row in told["adoption"]] == [
        ("reference", "Apache-2.0"),
        ("gone", "MIT"),
    ]
    # Who is not here is not started, either.
    assert [(row["subject"], row["number"]) for row in told["starts"]] == [("reference", 1)]
    assert "From a server's start to its first reply" in wiretrial("report", str(folder)).stdout
    kept = json.loads(wiretrial("report", str(folder), "--format", "compact").stdout)
    assert kept["schema"] == "wiretrial-found"
    tables = (block for section in kept["sections"] for block in section["blocks"])
    rows = [[cell["text"] for cell in row] for table in tables for row in table.get("rows", ())]
    assert ["./gone", "unavailable"] in [row[:2] for row in rows]
    # What it asks for is handed on to its build, which then gets as far as what is no server.
    again = wiretrial("study", "run", "./mine", "--seed", "1", "--prefix", ".", **cache)
    assert "gone is unavailable: `test -n" not in again.stderr


def subject(folder: Path, name: str, *flags: str) -> None:
    """A server of one's own: the reference server with these flags."""
    path = folder / name / "subject.toml"
    path.parent.mkdir()
    words = "".join(f', "{flag}"' for flag in flags)
    text = OWN.replace("FLAGS", words).replace('name = "own"', f'name = "{name}"')
    path.write_text(text, encoding="utf-8")


def test_a_subject_that_dies_at_its_start_fails_compare_and_the_gate(
    wiretrial: Run, tmp_path: Path
) -> None:
    subject(tmp_path, "a")
    subject(tmp_path, "bad", "--no-such-flag")
    flags = ("--protocol", "ws", "-c", "2", "-d", "300ms", "--warmup", "100ms", "--trials", "2")
    cache = {"WIRETRIAL_CACHE": str(tmp_path / "cache")}
    done = wiretrial("compare", "./bad", "./a", *flags, "--seed", "1", **cache)
    assert done.returncode == EXIT_FAILED, done.stderr
    missing, remedy = done.stderr.splitlines()[-2:]
    why = "bad ended at its start: exit status 2"
    assert missing.startswith(f"missing: ./bad was asked for and has no figure: {why}")
    assert remedy.startswith("try again with: wiretrial compare --resume results/compare-")

    folder = str(results_of(tmp_path).folder)
    bound = ("--threshold", "connect.p50 <= 50s")
    gated = wiretrial("gate", folder, *bound, "--junit", "gate.xml", "--format", "json")
    assert gated.returncode == EXIT_GATE, gated.stderr
    rows = {row["scenario"]: row for row in json.loads(gated.stdout)["bounds"]}
    assert rows["./bad"]["outcome"] == "missing"
    assert rows["./bad"]["text"].startswith(f"it was asked for and has no figure: {why}")
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert int(suite.attrib["failures"]) >= 1
    failure = suite.find("testcase[@classname='./bad']/failure")
    assert failure is not None
    assert why in failure.attrib["message"]
    against = wiretrial(
        *("gate", folder, "--baseline", folder, "--format", "markdown"),
        *("--threshold", "throughput >= 0.01x"),
    )
    assert against.returncode == EXIT_GATE
    assert "| ./bad | ❌ missing |" in against.stdout


def test_nobody_measured_is_told_in_the_gate_too(wiretrial: Run, tmp_path: Path) -> None:
    subject(tmp_path, "bad", "--no-such-flag")
    flags = ("--protocol", "ws", "-d", "300ms", "--trials", "1")
    done = wiretrial("compare", "./bad", "./bad", *flags)
    assert done.returncode == EXIT_FAILED
    assert "no trial could be measured" in done.stderr
    gated = wiretrial("gate", str(results_of(tmp_path).folder), "--threshold", "throughput >= 1")
    assert gated.returncode == EXIT_GATE
    assert gated.stdout.rstrip().endswith("missing: 2 of 2 bounds")
