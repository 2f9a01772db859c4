"""Cost per message: small multiples, one unit each, and the figures with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wiretrial.report import metrics, palette, units
from wiretrial.report.canvas import NARROW, Frame, Padding, Picture, Row
from wiretrial.report.families import Group
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views.plot import Axis, Plot, placed
from wiretrial.words import MESSAGE

PITCH = 38
GROUP_GAP = 0.4
TITLE = 0.55
"""Height of a group's title, in rows."""
FRAME = Frame(NARROW)
_SAME_BYTES = 0.005


@dataclass(frozen=True)
class Panel:
    """One small picture: the parts of the total are stacked in one bar, the later ones paler."""

    key: str
    title: str
    total: Metric
    note: str = ""
    parts: tuple[Metric, ...] = ()


_SPLIT = "full colour: user; pale: system"
_OF_CLIENT = (metrics.CLIENT_USER, metrics.CLIENT_SYSTEM)
_OF_SERVER = (metrics.SERVER_USER, metrics.SERVER_SYSTEM)
CLIENT = Panel("client", "Client CPU, µs per {message}", metrics.CLIENT, _SPLIT, _OF_CLIENT)
SERVER = Panel("server", "Server CPU, µs per {message}", metrics.SERVER, _SPLIT, _OF_SERVER)
GENERATOR = Panel("generator", "Generator CPU, µs per {message}", metrics.GENERATOR)
BYTES = Panel(
    "bytes", "TCP payload, bytes per {message}", metrics.TRANSPORT_BYTES, "sent and received"
)
APPLICATION = Panel(
    *("application", "Application, bytes per {message}", metrics.APPLICATION_BYTES),
    "sent and received, inside TLS",
)
WIRE = Panel(
    "wire",
    "Wire, bytes per {message}",
    metrics.WIRE_BYTES,
    "frames on a link of its own, both ways",
)
USER_MEMORY = Panel(
    *("user-memory", "Memory per connection, user, kB", metrics.USER_MEMORY),
    "growth of the proportional set size",
)
KERNEL_MEMORY = Panel(
    *("kernel-memory", "Memory per connection, kernel, kB", metrics.KERNEL_MEMORY),
    "sockets and their buffers; both ends, over loopback",
)


def panels(groups: Sequence[Group]) -> tuple[Panel, ...]:
    """The panels that have figures; application bytes only where TLS adds to them.

    What is the same for everybody is no picture; `constants` says it.
    """
    scenarios = [scenario for group in groups for scenario in group.scenarios]
    wanted = (CLIENT, SERVER, GENERATOR, BYTES, WIRE, USER_MEMORY, KERNEL_MEMORY)
    known = [panel for panel in wanted if _known(scenarios, panel.total)]
    if BYTES in known and any(_tls_adds(scenario) for scenario in scenarios):
        known.append(APPLICATION)
    what = groups[0].what if groups else MESSAGE
    return tuple(
        replace(panel, title=what.in_text(panel.title))
        for panel in known
        if not _is_constant(scenarios, panel.total)
    )


def constants(model: ReportModel) -> tuple[str, ...]:
    """Bytes per message where all scenarios have the same, in words."""
    if len(model.scenarios) < 2 or not _is_constant(model.scenarios, metrics.TRANSPORT_BYTES):
        return ()
    octets = model.scenarios[0].median(metrics.TRANSPORT_BYTES) or 0.0
    one = model.scenarios[0].what.one
    return (f"TCP payload: {units.trimmed(octets)} bytes per {one} and reply, for all.",)


def picture(ranked: Sequence[Group], panel: Panel) -> Picture:
    """A bar per scenario, its name above, its figure at the end; groups stand under titles."""
    shown = [
        (group, known)
        for group in ranked
        if (known := [s for s in group.ranked if panel.total.key in s.estimates])
    ]
    drawn = [scenario for _, known in shown for scenario in known]
    # A title above each single bar would be no shorter than its whole name.
    is_titled = len(shown) > 1 and all(g.has_labels and len(known) > 1 for g, known in shown)
    if is_titled or len(ranked) == 1:
        called = {name: label for group in ranked for name, label in group.called.items()}
    else:
        called = {s.name: s.name for s in drawn}
    unit = next((u for u in panel.total.units if u.name in panel.title), panel.total.units[0])
    padding = Padding(2, 52, 4, 4)
    greatest = max(_value(s, panel.total, unit) for s in drawn)
    title = TITLE if is_titled else 0.0
    bars: list[Row] = []
    names: list[Row] = []
    titles: list[Row] = []
    top = 0.0
    for group, known in shown:
        titles.append({"y": top + 0.4 * title, "text": group.title})
        top += title
        for scenario in known:
            bars += _bar(scenario, panel, unit, top)
            value = scenario.estimates[panel.total.key].median
            place = {"y": top + 0.28, "foot": top + 0.7, "end": value / unit.size}
            names.append({**place, "name": called[scenario.name], "figure": unit.figure(value)})
            top += 1
        top += GROUP_GAP
    tall = top - GROUP_GAP
    plot = Plot(FRAME, padding, round(PITCH * tall), Axis(0, greatest, {}), placed(0, tall))
    plot.draw("rule", bars, x="from", x2="to", aria=True, strokeWidth=10)
    plot.grey(titles if is_titled else [], x=0, limit=FRAME.width)
    ink: Row = {"color": palette.INK}
    plot.draw("text", names, text="name", x=0, fontSize=12.5, **ink)
    figure: Row = {"dx": 7, "fontSize": 13, "fontWeight": 600, **ink}
    plot.draw("text", names, text="figure", x="end", y="foot", **figure)
    return plot.picture(_alternative(drawn, panel, unit))


def _known(scenarios: Sequence[ScenarioResult], metric: Metric) -> bool:
    return any(metric.key in scenario.estimates for scenario in scenarios)


def _is_constant(scenarios: Sequence[ScenarioResult], metric: Metric) -> bool:
    """Whether bytes per message, which don't vary by chance, are the same for all of several."""
    if metric is not metrics.TRANSPORT_BYTES or len(scenarios) < 2:
        return False
    medians = [scenario.median(metric) for scenario in scenarios]
    known = [value for value in medians if value is not None]
    return len(known) == len(medians) and max(known) <= min(known) * (1 + _SAME_BYTES)


def _tls_adds(scenario: ScenarioResult) -> bool:
    outer, inner = (
        scenario.median(metric) for metric in (metrics.TRANSPORT_BYTES, metrics.APPLICATION_BYTES)
    )
    return outer is not None and inner is not None and outer > inner * (1 + _SAME_BYTES)


def _value(scenario: ScenarioResult, metric: Metric, unit: units.Unit) -> float:
    return (scenario.median(metric) or 0.0) / unit.size


def _bar(scenario: ScenarioResult, panel: Panel, unit: units.Unit, top: float) -> list[Row]:
    """The bar's parts. They are scaled to the total: medians of parts need not add up to it."""
    parts = panel.parts or (panel.total,)
    values = [_value(scenario, part, unit) for part in parts]
    scale = _value(scenario, panel.total, unit) / (sum(values) or 1.0)
    rows: list[Row] = []
    start = 0.0
    for part, value, opacity in zip(parts, values, (1.0, 0.45), strict=False):
        end = start + value * scale
        rows.append(
            {
                "y": top + 0.7,
                "from": start,
                "to": end,
                "opacity": opacity,
                "colour": palette.scenario(scenario.colour),
                "text": f"{scenario.name}, {part.title}: {unit.figure(value * unit.size)} "
                f"{unit.name}",
            }
        )
        start = end
    return rows


def _alternative(drawn: Sequence[ScenarioResult], panel: Panel, unit: units.Unit) -> str:
    parts = units.listed(
        f"{s.name} {unit.figure(s.estimates[panel.total.key].median)}" for s in drawn
    )
    return f"{panel.title}: {parts}."
