"""All that is known of one subject.

Knows how it is laid out; must not know how a subject is installed.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from wiretrial.cli import output
from wiretrial.cli.output import Format
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD
from wiretrial.subjects import build, registry
from wiretrial.subjects.footprint import Weight
from wiretrial.subjects.spec import Spec


def show(name: str, format_: Format) -> int:
    """Shows recipe, contracts and configurations."""
    subject = registry.find(name)
    spec = subject.spec
    built = build.installed(subject, Engine.find().binary)
    document = {
        "schema": "wiretrial-subject",
        "version": 2,
        "folder": str(subject.folder),
        "digest": subject.digest(),
        "subject": spec.model_dump(mode="json"),
        "build": built.model_dump(mode="json") if built else None,
        "reason": None if built else build.refused(subject),
    }
    if format_ is Format.JSON:
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    state = built.version if built else build.refused(subject) or "not installed"
    lines = [
        ("version", state),
        ("language", spec.language),
        ("licence", spec.licence),
        ("homepage", spec.homepage),
        ("speaks", ", ".join(spec.speaks)),
        *_kept(spec),
        ("threads", str(spec.max_threads or "as many as it is told")),
        ("folder", str(subject.folder)),
        ("digest", subject.digest()[:16]),
    ]
    if built:
        lines += [("built in", str(built.folder)), *_weight(built.weight)]
    for configuration, chosen in spec.configurations.items():
        lines += [(configuration, chosen.description), ("", shlex.join(chosen.command))]
    for limit in spec.limits:
        lines.append((f"not {limit.part}", limit.why))
    shown = [f"{spec.name}: {spec.summary}", *(f"  {key:<14} {text}" for key, text in lines)]
    output.emit("\n".join(shown), None)
    return EXIT_GOOD


def _kept(spec: Spec) -> Iterator[tuple[str, str]]:
    """What it claims."""
    named = {"contracts": spec.contracts, "modes": spec.modes}
    yield from ((name, ", ".join(words)) for name, words in named.items() if words)
    if spec.traffic:
        yield "traffic", spec.traffic


def _weight(weight: Weight) -> Iterator[tuple[str, str]]:
    """What is known of a footprint, in words."""
    if weight.dependencies is not None and weight.dependency_bytes is not None:
        size_mb = weight.dependency_bytes / 1e6
        yield "dependencies", f"{weight.dependencies} over a C++ compiler's, {size_mb:.1f} MB"
    if weight.artefact_bytes is not None:
        octets = weight.stripped_bytes or weight.artefact_bytes
        stripped = " stripped" if weight.stripped_bytes else ""
        yield "program", f"{octets / 1e3:,.0f} kB{stripped}"
    if weight.build_wall_ns is not None and weight.build_cpu_ns is not None:
        wall, cpu = weight.build_wall_ns / 1e9, weight.build_cpu_ns / 1e9
        yield "build", f"{wall:.1f} s, {cpu:.1f} s of CPU"
    if weight.service_lines is not None:
        yield "service", f"{weight.service_lines} lines"
