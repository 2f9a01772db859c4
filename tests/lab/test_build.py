"""Installing: what a recipe leaves behind, what it refuses, and what it remembers."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.engine import Engine
from wiretrial.errors import SubjectUnavailable
from wiretrial.subjects import build, recipes, registry, spec
from wiretrial.subjects.spec import Subject

RECIPE = """
name = "own"
kind = "server"
summary = "Nothing that would answer"
language = "C++"
homepage = "https://example.org"
licence = "Apache-2.0"
speaks = ["http"]
contracts = ["http-echo"]
shared = ["words"]
build = [["cp", "shared/words/said", "said"], BUILD]

[version]
command = ["cat", "{build}/said"]
pattern = 'version (\\S+)'

[footprint]
artefact = "{build}/said"
service = ["server.cpp"]

[configurations.default]
description = "As it is."
command = ["{build}/said"]
"""

SERVICE = """// Says nothing.
/* In two
 * lines.
 */
int main() {
  return 0;
}
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))
    monkeypatch.delenv(build.PREFIX, raising=False)


def own(base: Path, command: str = '["true"]', install: str = "") -> Subject:
    """A subject beside shared sources, as in a catalogue."""
    folder, words = base / "own", base / spec.SHARED / "words"
    folder.mkdir(exist_ok=True)
    words.mkdir(parents=True, exist_ok=True)
    (words / "said").write_text("version 1.2\n", encoding="utf-8")
    (folder / "server.cpp").write_text(SERVICE, encoding="utf-8")
    text = RECIPE.replace("BUILD", command) + install
    (folder / spec.SPEC_FILE).write_text(text, encoding="utf-8")
    return registry.find(f"{folder}/")


def test_a_build_knows_what_it_cost_and_weighs(engine: Engine, tmp_path: Path) -> None:
    told: list[str] = []
    built = build.install(own(tmp_path), engine.binary, told.append)
    assert built.version == "1.2"
    assert told[:2] == ["cp shared/words/said said", "true"]
    assert [step.command[0] for step in built.steps if step.compiles] == ["cp", "true"]
    assert built.weight.service_lines == 3
    assert built.weight.artefact_bytes == len("version 1.2\n")
    assert built.weight.stripped_bytes is None
    assert built.weight.build_wall_ns is not None
    assert built.weight.build_wall_ns >= sum(step.wall_ns for step in built.steps if step.compiles)
    assert build.installed(own(tmp_path), engine.binary) == built


def test_a_build_follows_the_sources_that_it_shares(engine: Engine, tmp_path: Path) -> None:
    first = build.install(own(tmp_path), engine.binary)
    (tmp_path / spec.SHARED / "words" / "said").write_text("version 2.0\n", encoding="utf-8")
    second = build.install(registry.find(f"{tmp_path}/own/"), engine.binary)
    assert (first.version, second.version) == ("1.2", "2.0")
    assert first.folder != second.folder


def test_a_prefix_makes_another_build_which_is_found_again(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = own(tmp_path, '["test", "-n", "{prefix}"]')
    with pytest.raises(SubjectUnavailable):
        build.install(subject, engine.binary)
    assert build.refused(subject) is not None
    monkeypatch.setenv(build.PREFIX, "/opt/one:/opt/two")
    built = build.install(subject, engine.binary)
    assert built.prefix == "/opt/one;/opt/two"
    monkeypatch.delenv(build.PREFIX)
    assert build.installed(subject, engine.binary) == built


def test_what_failed_is_told_with_its_reason_until_it_is_installed(
    engine: Engine, tmp_path: Path
) -> None:
    missing = tmp_path / "library"
    subject = own(
        tmp_path,
        f'["sh", "-c", "test -e {missing} || {{ echo fatal error: no library; exit 3; }}"]',
        '\n[install]\nremedy = "install the library"\n',
    )
    with pytest.raises(SubjectUnavailable) as told:
        build.install(subject, engine.binary)
    assert "fatal error: no library: install the library" in told.value.line()
    assert build.refused(subject) == told.value.line()
    assert "fatal error: no library" in build.log_file(subject).read_text(encoding="utf-8")
    assert build.installed(subject, engine.binary) is None
    missing.touch()
    build.install(subject, engine.binary)
    assert build.refused(subject) is None


def test_a_failed_build_leaves_nothing_that_looks_whole(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(SubjectUnavailable):
        build.install(own(tmp_path, '["false"]'), engine.binary)
    left = [path for path in (tmp_path / "cache" / "subjects").iterdir() if path.is_dir()]
    assert left == []


def test_an_archive_that_is_not_what_was_pinned_is_refused(engine: Engine, tmp_path: Path) -> None:
    wrong = "sha512-" + "A" * 86 + "=="
    pinned = (
        f'\n[install]\nnpm_pack = [{{ name = "ws", version = "8.18.0", integrity = "{wrong}" }}]\n'
    )
    with pytest.raises(SubjectUnavailable, match=r"ws@8\.18\.0 is not what was pinned"):
        build.install(own(tmp_path, install=pinned), engine.binary)


@pytest.mark.parametrize(
    ("package", "missing"),
    [
        ("dpkg", False),
        ("dpkg=*", False),
        ("dpkg=0.0*", True),
        ("no-such-package-anywhere", True),
    ],
)
def test_a_package_is_missing_in_another_version(package: str, missing: bool) -> None:
    if not recipes.package_versions(["dpkg"]):
        pytest.skip("this system has no Debian packages")
    assert bool(recipes.missing_packages([package])) is missing
