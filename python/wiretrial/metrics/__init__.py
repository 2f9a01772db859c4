"""Live metrics of a load or a study, sent to where others are kept: OTLP, Prometheus remote write.

Knows snapshots, how metrics are named and encoded, and how they are sent beside a measurement; must
not know how anything is measured. `collector` sums up snapshots, `remote_write` and `otlp` encode,
`sender` posts from a thread of its own, and `dashboard` shows the metrics in Grafana.
"""
