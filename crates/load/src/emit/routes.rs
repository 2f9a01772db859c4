//! Lines for people about traffic: one for each route, and one for each flow.
//!
//! Knows figures and their names. Must not know what else is said of a run.

use std::io::{self, Write};

use super::words::{decode, grouped, quantiles};
use crate::measure::figures::{FlowFigures, RouteFigures, TrafficFigures, TrafficNames};

/// A line for each route and flow, and below it what failed.
pub(super) fn write(
    out: &mut impl Write,
    names: &TrafficNames,
    figures: &TrafficFigures,
) -> io::Result<()> {
    for (name, route) in names.routes.iter().zip(&figures.routes) {
        let RouteFigures { ok, errors, in_flight, examples, histograms, .. } = route;
        let failed: u64 = errors.values().sum();
        let flight = counted("in flight", *in_flight);
        let times = histograms.get("response_time").or(histograms.get("service_time"));
        let times = times.and_then(|text| decode(text));
        let times = times.map_or(String::new(), |times| quantiles(&times, "messages"));
        let (whole, ok, failed) = (*ok + route.wrong, grouped(*ok), grouped(failed));
        writeln!(out, "  route          {name}: ok {ok}  errors {failed}{flight}  {times}")?;
        if route.checked + route.left_out > 0 {
            let left = counted("left out", route.left_out);
            let (checked, whole) = (grouped(route.checked), grouped(whole));
            writeln!(
                out,
                "                 {checked} of {whole} replies checked with filters{left}"
            )?;
        }
        let blocked = histograms.get("blocked_time").and_then(|text| decode(text));
        if let Some(blocked) = blocked.filter(|blocked| blocked.max() > 0) {
            let never = counted("never sent", route.blocked);
            writeln!(out, "                 blocked  {}{never}", quantiles(&blocked, "messages"))?;
        }
        for (class, count) in errors {
            let example = examples.get(class).map_or("", String::as_str);
            writeln!(out, "                 {class} {}: {example}", grouped(*count))?;
        }
    }
    for (name, flow) in names.flows.iter().zip(&figures.flows) {
        let FlowFigures { begun, done, failed, open, unasked, histograms } = flow;
        let (open, failures) = (counted("open", *open), failed.values().sum());
        let times = histograms.get("iteration_time").and_then(|text| decode(text));
        let times = times.map_or(String::new(), |times| quantiles(&times, "sessions"));
        let (begun, done, failures) = (grouped(*begun), grouped(*done), grouped(failures));
        writeln!(
            out,
            "  flow           {name}: sessions {begun}  done {done}  failed {failures}{open}  {times}"
        )?;
        if !unasked.is_empty() {
            let kinds = unasked.iter().map(|(kind, count)| format!("{kind} {}", grouped(*count)));
            let kinds = kinds.collect::<Vec<_>>().join(", ");
            writeln!(out, "                 came unasked: {kinds}")?;
        }
        if let Some(feed) = failed.get("feed") {
            writeln!(out, "                 feed {}: no row was left", grouped(*feed))?;
        }
        let waits = histograms.get("session_wait").and_then(|text| decode(text));
        if let Some(waits) = waits.filter(|waits| waits.max() > WAITED_NS) {
            writeln!(out, "                 waited  {}", quantiles(&waits, "sessions"))?;
        }
    }
    if figures.dropped > 0 {
        let dropped = grouped(figures.dropped);
        writeln!(out, "  sessions       {dropped} were due and never began")?;
    }
    Ok(())
}

/// Who waits no longer than this has not waited for a free user, nanoseconds.
const WAITED_NS: u64 = 1_000_000;

fn counted(what: &str, count: u64) -> String {
    if count > 0 { format!("  {what} {}", grouped(count)) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Nanos;
    use crate::measure::{Class, Recorder, Timeline, TrafficStanding};

    #[test]
    fn each_route_and_each_flow_has_a_line() {
        let mut recorder = Recorder::default();
        let instants = [0, 0, 5_000_000, 5_000_000].map(Nanos);
        let [due, sent, first_byte, done] = instants;
        let timeline = Timeline { due, sent, first_byte, done };
        (0..20).for_each(|_| recorder.route(0).right(&timeline, true));
        (0..9).for_each(|_| recorder.route(0).checked(true));
        recorder.route(0).left_out();
        recorder.route(1).blocked(Nanos(3_000_000));
        recorder.route(1).failure(Class::Status, || "status 500, not 2xx".to_owned());
        recorder.flow(0).begun(Nanos(2_000_000));
        recorder.flow(0).failed(Class::Status);
        recorder.flow(0).starved(3);
        recorder.flow(0).unasked("news", 1_200);
        recorder.flow(0).unasked("tick", 2);
        let standing = TrafficStanding {
            in_flight: vec![0, 1],
            blocked: vec![0, 6],
            open: vec![2],
            dropped: 1_000,
            ..TrafficStanding::default()
        };
        let names = TrafficNames {
            routes: vec!["GET /a".to_owned(), "GET /b".to_owned()],
            flows: vec!["f".to_owned()],
        };
        let mut out = Vec::new();
        write(&mut out, &names, &recorder.traffic((2, 1), &standing, true)).expect("a Vec");
        let text = String::from_utf8(out).expect("text");
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "  route          GET /a: ok 20  errors 0  p50 5.00 ms   max 5.00 ms   (p90 needs 100 messages; 20 came)",
                "                 9 of 20 replies checked with filters  left out 1",
                "  route          GET /b: ok 0  errors 1  in flight 1",
                "                 blocked  max 3.00 ms   (p50 needs 20 messages; 1 came)  never sent 6",
                "                 status 1: status 500, not 2xx",
                "  flow           f: sessions 4  done 0  failed 4  open 2",
                "                 came unasked: news 1,200, tick 2",
                "                 feed 3: no row was left",
                "                 waited  max 2.00 ms   (p50 needs 20 sessions; 1 came)",
                "  sessions       1,000 were due and never began",
            ]
        );
    }
}
