"""A trial in short: the figures that are followed over time, and all that their comparing needs.

Knows trials and metrics; must not know lines. Reading quantiles takes longer than all else, so a
brief is kept, and made once per trial.
"""

from __future__ import annotations

from wiretrial import __version__
from wiretrial.report import metrics
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import Metric
from wiretrial.report.trend import terms
from wiretrial.results.brief import Brief, Figure
from wiretrial.results.history import Shortening
from wiretrial.results.model import Trial

FORM = f"2 of {__version__}"
"""Of what is kept: another number where figures or terms are other ones."""
FOLLOWED = (
    *(metrics.P50, metrics.P99, metrics.WALL, metrics.CLIENT, metrics.SERVER),
    *(metrics.THROUGHPUT, metrics.USER_MEMORY),
)


def of(trial: Trial) -> Brief:
    """The trial in short."""
    measured, scenario = Measured(trial), trial.scenario
    ranked = _ranked(measured)
    return Brief(
        study=trial.study,
        scenario=scenario.name,
        occasion=trial.occasion,
        block=trial.block,
        at=trial.started_at,
        protocol=scenario.protocol,
        is_twin=scenario.twin_of is not None,
        is_usable=measured.is_usable,
        is_client_bound=trial.judgement.verdict == "client-bound",
        is_driven=measured.is_driven,
        keeps_secrets=trial.keeps_secrets,
        ranked_by=ranked.key,
        labels=trial.named,
        version=trial.subject.version if trial.subject else None,
        boot=terms.boot(trial),
        terms=terms.of(trial),
        reference=trial.ceiling.messages_per_second if trial.ceiling else None,
        figures={
            metric.key: Figure(value=metric.of(measured), withheld=metric.withheld(measured))
            for metric in dict.fromkeys((*FOLLOWED, ranked))
            if measured.is_usable
        },
    )


def _ranked(measured: Measured) -> Metric:
    scenario = measured.trial.scenario
    if scenario.ranked_by:
        return metrics.BY_KEY[scenario.ranked_by]
    return metrics.ranked_metric(
        is_open_loop=measured.is_open_loop,
        is_timed=bool({"requests", "requests_each"} & scenario.levels.keys()),
        is_driven=measured.is_driven,
    )


SHORT = Shortening(FORM, of)
"""For whoever reads results over time."""
