"""The JUnit XML of `gate` and `compare`, held against what Jenkins and GitLab read of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Run
from tests.report import synthetic_trend
from wiretrial.cli import gating
from wiretrial.report import gate, load_text
from wiretrial.report.gate import Row
from wiretrial.stats.gate import Decision

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "data" / "junit.xsd")
BOUND = gate.parse("service.p99 <= 2ms @ ws*")
ROWS = (
    Row("ws", BOUND, Decision("kept", 1.0, 0.9, 1.1, None), "1 ms (0.9 to 1.1)"),
    Row("http", BOUND, Decision("broken", 3.0, 2.9, 3.1, None), "3 ms & <more>"),
    Row("tcp", BOUND, Decision("cannot tell", 2.0, 1.0, 3.0, 12), "12 trials would"),
    Row("./mine", BOUND, None, "it was asked for\nand has no figure", is_missing=True),
)


def read(text: str) -> ElementTree.Element:
    """The suite, which keeps the rules, and whose counts are those of its cases."""
    SCHEMA.validate(text)
    suite = ElementTree.fromstring(text)
    counts = (len(suite.findall(path)) for path in ("testcase", "*/failure", "*/error"))
    assert tuple(counts) == tuple(int(suite.attrib[n]) for n in ("tests", "failures", "errors"))
    return suite


def written(rows: Sequence[Row]) -> ElementTree.Element:
    return read(gating.as_junit(rows, "wiretrial gate"))


def test_each_outcome_is_one_that_is_read() -> None:
    suite = written(ROWS)
    told = {case.get("classname"): case[0] for case in suite}
    assert [(name, part.tag, part.get("type")) for name, part in told.items()] == [
        ("ws", "system-out", None),
        ("http", "failure", "broken"),
        ("tcp", "error", "cannot tell"),
        ("./mine", "failure", "missing"),
    ]
    # GitLab shows what stands in the element, Jenkins its message, too.
    for name in ("http", "tcp", "./mine"):
        text = told[name].text
        assert text
        assert told[name].get("message") == text
    assert {case.get("name") for case in suite} == {BOUND.text}


@given(name=st.text(min_size=1), said=st.text(min_size=1))
def test_no_character_that_xml_has_not_is_written(name: str, said: str) -> None:
    row = Row(name, BOUND, None, said, is_missing=True)
    written([row])


def test_what_a_server_said_at_its_end_is_read_whole() -> None:
    said = "its start: \x1b[31mexit status 2\x1b[0m \ud800 \uffff ]]>"
    (case,) = written([Row("a", BOUND, None, said, is_missing=True)])
    assert case[0].text == "its start: �[31mexit status 2�[0m � � ]]>"


def test_what_the_command_writes_keeps_the_rules(wiretrial: Run, tmp_path: Path) -> None:
    load = tmp_path / "load.json"
    load.write_text(load_text(synthetic_trend.trial(0, 1.0, day=0)), encoding="utf-8")
    bounds = ("throughput >= 1", "service.p99 <= 1ns", "service.p50 <= 9s")
    asked = (word for bound in bounds for word in ("--threshold", bound))
    done = wiretrial("gate", "load.json", *asked, "--trend", "3", "--junit", "gate.xml")
    assert done.returncode != 2, done.stderr
    suite = read((tmp_path / "gate.xml").read_text(encoding="utf-8"))
    assert suite.get("name") == "wiretrial gate"
    assert len(suite) == 4
