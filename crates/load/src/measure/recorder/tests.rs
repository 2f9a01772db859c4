//! Recorders add up, and what is recorded has its place.

use super::super::figures::RouteFigures;
use super::super::times::HIGHEST_NS;
use super::*;

fn timeline(due: u64, sent: u64, done: u64) -> Timeline {
    Timeline { due: Nanos(due), sent: Nanos(sent), first_byte: Nanos(done), done: Nanos(done) }
}

#[test]
fn class_numbers_are_their_places() {
    for (index, class) in Class::ALL.iter().enumerate() {
        assert_eq!(*class as usize, index, "{}", class.name());
    }
}

#[test]
fn sums_and_histograms_add_up_over_recorders() {
    let (mut total, mut part) = (Recorder::default(), Recorder::default());
    for index in 0..3u64 {
        part.clear();
        part.sent = 2;
        part.empty_polls = index;
        part.replies(&timeline(0, 10, 1000 * (index + 1)), 1, true);
        part.failure(Class::Mismatch, Nanos(5));
        total.add(&part);
    }
    let counters = total.counters(0, 0, 0);
    assert_eq!((counters.sent, counters.ok, counters.errors["mismatch"]), (6, 3, 3));
    assert_eq!(total.empty_polls, 3);
    let times = total.histogram(Metric::ResponseTime).expect("recorded");
    assert_eq!((times.len(), times.min()), (3, 1000));
    assert!(times.equivalent(times.max(), 3000));
    assert!(total.histogram(Metric::PacingLag).is_none());
}

#[test]
fn statuses_and_messages_of_calls_add_up() {
    let (mut total, mut part) = (Recorder::default(), Recorder::default());
    for _ in 0..2 {
        part.clear();
        for status in [0, 0, 5, 17, 503] {
            part.status(status);
        }
        part.messages(3, Nanos(700));
        part.messages(0, Nanos(1));
        total.add(&part);
    }
    let counters = total.counters(0, 0, 0);
    let names = ["17", "HTTP 503", "NOT_FOUND", "OK"].map(str::to_owned);
    assert!(counters.statuses.into_iter().eq(names.into_iter().zip([2, 2, 2, 4])));
    let times = total.histogram(Metric::MessageTime).expect("recorded");
    assert_eq!((counters.messages, times.len()), (6, 6));
    assert_eq!((times.value_at_quantile(0.5), times.count_at(700)), (0, 2));
}

#[test]
fn routes_and_flows_add_up_over_recorders() {
    let (mut total, mut part) = (Recorder::default(), Recorder::default());
    for index in 0..3 {
        part.clear();
        let route = part.route(1);
        route.sent(2);
        route.encoded(10);
        route.received(20);
        route.right(&timeline(0, 10, 1000), true);
        route.failure(Class::Capture, || format!("number {index}"));
        part.flow(2).begun(Nanos(5));
        part.flow(2).done(Nanos(7));
        part.flow(0).begun(Nanos(5));
        part.flow(0).failed(Class::Capture);
        part.flow(0).starved(2);
        total.add(&part);
    }
    let standing = TrafficStanding { in_flight: vec![0, 4], open: vec![1], ..Default::default() };
    let figures = total.traffic((3, 3), &standing, true);
    let [unused, route, none] = &figures.routes[..] else { panic!("three routes") };
    assert!([unused, none].into_iter().all(|it| *it == RouteFigures::default()));
    assert_eq!((route.sent, route.ok, route.errors["capture"], route.in_flight), (6, 3, 3, 4));
    assert_eq!((route.bytes_sent, route.bytes_received), (30, 60));
    assert_eq!(route.examples["capture"], "number 0");
    assert_eq!(route.histograms.keys().collect::<Vec<_>>(), ["response_time", "service_time"]);
    let [failing, _, done] = &figures.flows[..] else { panic!("three flows") };
    assert_eq!((failing.begun, failing.done, failing.open), (9, 0, 1));
    assert_eq!((failing.failed["capture"], failing.failed["feed"]), (3, 6));
    assert_eq!((done.begun, done.done, done.failed.len()), (3, 3, 0));
    assert_eq!(done.histograms.keys().collect::<Vec<_>>(), ["iteration_time", "session_wait"]);
    assert!(total.traffic((3, 3), &standing, false).routes[1].examples.is_empty());
}

#[test]
fn what_the_lobby_tells_is_counted_once_each_and_adds_up() {
    let right = Bulletin { missed: 0, late: false, intact: true };
    let (mut total, mut part) = (Recorder::default(), Recorder::default());
    for bulletin in [
        right,
        Bulletin { missed: 3, ..right },
        Bulletin { late: true, ..right },
        Bulletin { late: true, intact: false, ..right },
        Bulletin { intact: false, ..right },
    ] {
        part.clear();
        part.bulletin(&bulletin);
        total.add(&part);
    }
    let lobby = total.counters(0, 0, 0).lobby;
    assert_eq!(lobby, Lobby { ok: 2, mismatch: 1, out_of_order: 2, missing: 3 });
}

#[test]
fn longer_than_an_hour_is_recorded_as_an_hour() {
    let mut recorder = Recorder::default();
    recorder.record(Metric::ServiceTime, Nanos(2 * HIGHEST_NS));
    let times = recorder.histogram(Metric::ServiceTime).expect("recorded");
    assert!(times.max() >= HIGHEST_NS && times.max() < HIGHEST_NS + HIGHEST_NS / 1000);
}
