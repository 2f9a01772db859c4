"""`wiretrial metrics`: what shows the live metrics of `--metrics`.

Knows the options; must not know what a panel shows.
"""

from __future__ import annotations

from wiretrial.cli import options
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial metrics dashboard -o wiretrial.json
  wiretrial metrics list
  wiretrial load http://127.0.0.1:8080/ -d 5m --metrics prometheus:http://127.0.0.1:9090
"""

app = Face(EXAMPLES)


@app.add("dashboard", "Print a Grafana dashboard of the metrics.")
def dashboard(file: options.ToFile = None) -> int:
    """Print a Grafana dashboard of the metrics that --metrics sends, as JSON to import.

    Its data source is a Prometheus that the metrics came into, by either protocol.
    """
    from wiretrial.cli import metrics_shown

    return metrics_shown.dashboard(file)


@app.add("list", "List the metrics, with units and meaning.")
def list_() -> int:
    """List the metrics that --metrics sends, by their names in Prometheus."""
    from wiretrial.cli import metrics_shown

    return metrics_shown.list_()
