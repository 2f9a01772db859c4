//! Lines for people: the engine's standalone face.

use std::io::{self, Write};

use super::words::{decode, grouped, quantiles, time};
use super::{Emit, http2, http3, routes};
use crate::measure::figures::TrafficNames;
use crate::measure::snapshot::{
    Counters, Deliveries, Interval, Lobby, Phase, Published, Snapshot, Start, Summary,
};

/// Prints what runs, and at the end what was found.
#[derive(Debug)]
pub struct Text<W, P> {
    result: W,
    progress: Option<P>,
    /// Messages are compressed.
    deflate: bool,
    /// Replies may vary.
    varies: bool,
    /// Of routes and flows.
    names: Option<TrafficNames>,
}

impl<W: Write, P: Write> Emit for Text<W, P> {
    fn emit(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        match snapshot {
            Snapshot::Start(start) => self.start(start),
            Snapshot::Connected(_) => Ok(()),
            Snapshot::Interval(interval) => self.interval(interval),
            Snapshot::Summary(summary) => self.summary(summary),
            // The caller says it, as the last line on standard error.
            Snapshot::Failure(_) => self.clear_progress(),
        }
    }
}

impl<W: Write, P: Write> Text<W, P> {
    /// The result goes to `result`, and to `progress` one line that is written over, while it
    /// runs; none when nobody watches.
    pub fn new(result: W, progress: Option<P>) -> Self {
        Self { result, progress, deflate: false, varies: false, names: None }
    }

    fn start(&mut self, start: &Start) -> io::Result<()> {
        let unproven = if start.insecure { ", any certificate accepted" } else { "" };
        let tls = start.tls.as_ref().map_or(String::new(), |tls| format!(", {tls}{unproven}"));
        let deflate = start.deflate.as_ref().map_or(String::new(), |agreed| format!(", {agreed}"));
        let http = start.http.map_or(String::new(), |spoken| format!(", {spoken}"));
        self.deflate = start.deflate.is_some();
        self.varies = start.learned.as_ref().is_some_and(|first| first.varies);
        self.names.clone_from(&start.traffic);
        let shortfall = start.poller_shortfall.as_ref();
        let shortfall = shortfall.map_or(String::new(), |why| format!(" ({why})"));
        let addresses = start.addresses.join(", ");
        writeln!(
            self.result,
            "{}   {addresses}, {} thread(s), {}{shortfall}{http}{tls}{deflate}",
            start.url, start.threads, start.poller
        )?;
        if let Some(profiled) = &start.header_profile {
            writeln!(self.result, "  header fields  {profiled}")?;
        }
        if let Some(learned) = &start.learned {
            writeln!(self.result, "  reply          {learned}")?;
        }
        writeln!(self.result)
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        /// One line of progress per so many intervals.
        const EVERY: u64 = 5;
        let Some(progress) =
            self.progress.as_mut().filter(|_| interval.index.is_multiple_of(EVERY))
        else {
            return Ok(());
        };
        let seconds = (interval.end_ns - interval.start_ns) as f64 / 1e9;
        let phase = match interval.phase {
            Phase::Connect => "connecting",
            Phase::WarmUp => "warming up",
            Phase::Measure => "measuring",
            Phase::Drain => "draining",
        };
        let per_second = if seconds > 0.0 { interval.counters.ok as f64 / seconds } else { 0.0 };
        write!(
            progress,
            "\r\x1b[2K{phase}  {:.1} s  {} replies/s  {} open  {} errors",
            interval.end_ns as f64 / 1e9,
            grouped(per_second as u64),
            interval.connections.open,
            errors(&interval.counters)
        )?;
        progress.flush()
    }

    fn clear_progress(&mut self) -> io::Result<()> {
        let Some(progress) = &mut self.progress else { return Ok(()) };
        write!(progress, "\r\x1b[2K")?;
        progress.flush()
    }

    fn summary(&mut self, summary: &Summary) -> io::Result<()> {
        self.clear_progress()?;
        let out = &mut self.result;
        let counters = &summary.counters;
        // All replies of the run, over the time from its first send to the end of the load.
        let seconds = (summary.measure_end_ns - summary.first_send_ns) as f64 / 1e9;
        let per_second = if seconds > 0.0 { counters.ok as f64 / seconds } else { 0.0 };
        writeln!(
            out,
            "  throughput     {} messages/s over {seconds:.1} s, {}",
            grouped(per_second as u64),
            match (counters.ok, self.varies) {
                (0, _) => "no right reply",
                (_, false) => "all verified",
                (_, true) => "all as expected; their content may vary",
            }
        )?;
        writeln!(
            out,
            "  messages       sent {}  ok {}  in flight {}  errors {}{}",
            grouped(counters.sent),
            grouped(counters.ok),
            grouped(counters.in_flight),
            grouped(errors(counters)),
            if counters.dropped > 0 {
                format!("  dropped {}", grouped(counters.dropped))
            } else {
                String::new()
            }
        )?;
        for (class, count) in &counters.errors {
            let example = summary.examples.get(class).map_or("", String::as_str);
            writeln!(out, "                 {class} {}: {example}", grouped(*count))?;
        }
        copies(out, counters)?;
        if let Some(published) = &summary.published {
            events(out, published)?;
        }
        for (name, label, values) in [
            ("response_time", "response time", "messages"),
            ("service_time", "service time", "messages"),
            ("delivery_time", "delivery time", "messages"),
            ("reach_time", "last receiver", "events"),
            ("pacing_lag", "pacing lag", "messages"),
            ("connect_time", "connect time", "connections"),
            ("tls_time", "TLS time", "connections"),
            ("resumed_time", "  resumed", "connections"),
            ("settings_time", "settings time", "connections"),
            ("upgrade_time", "upgrade time", "upgrades"),
        ] {
            if let Some(histogram) = summary.histograms.get(name).and_then(|text| decode(text)) {
                writeln!(out, "  {label:<13}  {}", quantiles(&histogram, values))?;
            }
        }
        if let (Some(names), Some(figures)) = (&self.names, &summary.traffic) {
            routes::write(out, names, figures)?;
        }
        if self.deflate {
            let bytes = &summary.bytes;
            writeln!(
                out,
                "  compression    sent {}  received {}",
                ratio(bytes.application_sent, bytes.payload_sent),
                ratio(bytes.application_received, bytes.payload_received)
            )?;
        }
        if let Some(figures) = &summary.http2 {
            http2::write(out, figures)?;
        }
        if let Some(figures) = &summary.http3 {
            http3::write(out, figures)?;
        }
        let generator = &summary.generator;
        let cpu = generator.cpu_user_ns + generator.cpu_system_ns;
        let each = if counters.sent > 0 { cpu as f64 / counters.sent as f64 / 1e3 } else { 0.0 };
        writeln!(
            out,
            "  generator      {each:.2} us CPU per message, loop {:.0} % busy",
            generator.loop_utilisation * 100.0
        )?;
        if summary.blocked.exchanges > 0 {
            writeln!(
                out,
                "  blocked        {} exchanges took {} in all (over {} each)",
                grouped(summary.blocked.exchanges),
                time(summary.blocked.slot_ns),
                time(summary.blocked.threshold_ns)
            )?;
        }
        if summary.disturbed_intervals > 0 {
            writeln!(
                out,
                "  disturbed      in {} intervals the generator itself was kept from running",
                summary.disturbed_intervals
            )?;
        }
        out.flush()
    }
}

/// What came of messages that have many receivers, what the lobby told, and which polls told nothing.
fn copies(out: &mut impl Write, counters: &Counters) -> io::Result<()> {
    let Deliveries { expected, ok, out_of_order, mismatch, missing, duplicate, in_flight } =
        counters.deliveries;
    if expected > 0 {
        writeln!(
            out,
            "  deliveries     expected {}  ok {}  in flight {}  missing {}  out of order {}  mismatch {}  duplicate {}",
            grouped(expected),
            grouped(ok),
            grouped(in_flight),
            grouped(missing),
            grouped(out_of_order),
            grouped(mismatch),
            grouped(duplicate)
        )?;
    }
    let Lobby { ok, mismatch, out_of_order, missing } = counters.lobby;
    if ok + mismatch + out_of_order + missing > 0 {
        writeln!(
            out,
            "  lobby          ok {}  missing {}  out of order {}  mismatch {}",
            grouped(ok),
            grouped(missing),
            grouped(out_of_order),
            grouped(mismatch)
        )?;
    }
    if let Some(empty) = counters.empty_polls {
        writeln!(out, "  empty polls    {} answered without an event", grouped(empty))?;
    }
    Ok(())
}

/// What was published, and how much of it did not come.
fn events(out: &mut impl Write, published: &Published) -> io::Result<()> {
    let Published { receivers, counters, undelivered, unconfirmed, examples, .. } = published;
    writeln!(
        out,
        "  published      sent {}  ok {}  errors {}  waiting {}  receivers {}  undelivered {}{}",
        grouped(counters.sent),
        grouped(counters.ok),
        grouped(errors(counters)),
        grouped(counters.waiting + counters.dropped),
        grouped(*receivers),
        grouped(*undelivered),
        if *unconfirmed > 0 {
            format!("  unconfirmed {}", grouped(*unconfirmed))
        } else {
            String::new()
        }
    )?;
    for (class, count) in &counters.errors {
        let example = examples.get(class).map_or("", String::as_str);
        writeln!(out, "                 {class} {}: {example}", grouped(*count))?;
    }
    Ok(())
}

fn errors(counters: &Counters) -> u64 {
    counters.errors.values().sum()
}

/// How many bytes stand for how much payload.
fn ratio(bytes: u64, payload: u64) -> String {
    let share = if payload > 0 { bytes as f64 / payload as f64 * 100.0 } else { 0.0 };
    format!("{} bytes for {} of payload ({share:.1} %)", grouped(bytes), grouped(payload))
}
