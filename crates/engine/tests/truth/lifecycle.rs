//! How runs begin and end.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use wiretrial_load::measure::snapshot::{End, Phase};
use wiretrial_load::{Control, Refusal, RunError};
use wiretrial_respond::Script;

use crate::outcome::{checked, run, run_with};
use crate::rig::Rig;

fn refused(plan: &Value) -> String {
    match run(plan) {
        Err(RunError::Refused(Refusal::Target { class, message })) => {
            assert!(!message.contains('\n'), "{message}");
            format!("{}: {message}", class.name())
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_run_that_is_stopped_keeps_what_it_has() {
    let rig = Rig::new(Script::default());
    for loop_ in [json!({"kind": "closed"}), json!({"kind": "open", "rate": 1000.0})] {
        let mut plan = rig.plan("ws");
        plan["load"] = json!({"connections": 5, "executor": loop_});
        plan["stop"] = json!({"duration_ns": 60_000_000_000_u64});
        let control = Arc::new(Control::default());
        let stopper = Arc::clone(&control);
        let thread = std::thread::spawn(move || {
            std::thread::park_timeout(Duration::from_millis(700));
            stopper.stop_by_signal(2);
        });
        let outcome = run_with(&plan, &control).expect("a partial result");
        thread.join().expect("joined");
        outcome.check_sums();
        assert_eq!((outcome.summary.end, outcome.summary.signal), (End::Interrupted, Some(2)));
        assert!(outcome.summary.counters.ok > 0);
        assert_eq!(outcome.summary.counters.in_flight, 0, "replies on their way were awaited");
    }
}

#[test]
fn replies_that_never_come_are_in_flight_at_the_end() {
    let rig = Rig::faulty("silent");
    let mut plan = rig.plan("tcp");
    // The preflight's exchange has to be answered: so only its deadline ends it.
    plan["phases"]["connect_ns"] = json!(300_000_000);
    assert!(refused(&plan).starts_with("timeout: "), "{}", refused(&plan));
}

#[test]
fn intervals_follow_each_other_and_belong_to_one_phase_each() {
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("ws");
    plan["load"] = json!({"connections": 3});
    plan["generator"] = json!({"threads": 2});
    plan["stop"] = json!({"duration_ns": 500_000_000});
    plan["phases"]["warmup_ns"] = json!(300_000_000);
    let outcome = checked(&plan);
    let intervals = &outcome.intervals;
    assert!(intervals.windows(2).all(|w| w[0].end_ns == w[1].start_ns && w[0].phase <= w[1].phase));
    let count = |phase| intervals.iter().filter(|interval| interval.phase == phase).count();
    assert_eq!((count(Phase::WarmUp), count(Phase::Measure)), (3, 5));
    let measured = outcome.summary.measure_end_ns - outcome.summary.measure_start_ns;
    assert_eq!(measured, 500_000_000);
}

#[test]
fn nobody_listening_is_refused_after_the_deadline() {
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("http");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port");
    plan["target"]["url"] = json!(format!("http://{free}/"));
    plan["phases"]["connect_ns"] = json!(200_000_000);
    let text = refused(&plan);
    assert!(text.starts_with("refused: ") && text.contains(&free.to_string()), "{text}");
}

#[test]
fn a_server_that_starts_late_is_waited_for() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port");
    let late = std::thread::spawn(move || {
        std::thread::park_timeout(Duration::from_millis(300));
        let plan = wiretrial_respond::ServerPlan { http: vec![free], ..Default::default() };
        wiretrial_respond::start(plan).expect("the server starts")
    });
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("ws");
    plan["target"]["url"] = json!(format!("ws://{free}/"));
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 100);
    drop(late.join());
}

#[test]
fn certificates_that_are_not_right_are_refused_with_the_reason() {
    let rig = Rig::new(Script::default());
    let cases = [
        (json!({"server_name": "localhost"}), "--cacert"),
        (json!({"ca_file": null, "server_name": "localhost"}), "--cacert"),
    ];
    for (tls, remedy) in cases {
        let mut plan = rig.plan("https");
        plan["target"]["tls"] = tls;
        let text = refused(&plan);
        assert!(text.starts_with("tls: ") && text.contains(remedy), "{text}");
    }
    let mut plan = rig.plan("https");
    plan["target"]["tls"]["server_name"] = json!("elsewhere.example");
    let text = refused(&plan);
    assert!(text.starts_with("tls: ") && text.contains("elsewhere.example"), "{text}");

    plan["target"]["tls"] = json!({"insecure": true});
    let outcome = checked(&plan);
    assert_eq!((outcome.summary.counters.ok, outcome.start.insecure), (100, true));
    assert!(!run(&rig.plan("https")).expect("the run ends").start.insecure);
}

#[test]
fn wrong_status_and_wrong_content_are_refused_before_the_load() {
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("http");
    let url = plan["target"]["url"].as_str().expect("text").replace("/echo", "/status/404");
    plan["target"]["url"] = json!(url);
    plan["target"]["http"] = json!({"method": "GET"});
    plan["target"]["message"] = json!({"source": {"from": "none"}});
    plan["target"]["expect"] = json!({});
    let text = refused(&plan);
    assert!(text.starts_with("status: ") && text.contains("404"), "{text}");

    plan["target"]["expect"] = json!({"status": 404});
    assert_eq!(checked(&plan).summary.counters.ok, 100);

    let mut plan = rig.plan("http");
    plan["target"]["expect"]["content"] = json!({"is": "fixed", "base64": "AAAA"});
    let text = refused(&plan);
    assert!(text.starts_with("mismatch: "), "{text}");
}

#[test]
fn more_connections_than_descriptors_are_refused_with_the_arithmetic() {
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("ws");
    plan["load"] = json!({"connections": 4_000_000_000_u32 / 16});
    match run(&plan) {
        Err(RunError::Refused(Refusal::Capacity(short))) => {
            let text = short.to_string();
            assert!(text.contains("250000064 descriptors") && text.contains("limit"), "{text}");
        }
        other => panic!("not refused: {other:?}"),
    }
}
