//! Rows about processes: signals, a pause, an output that is gone, a server that is killed.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::binary::{Respond, engine, run, text};
use crate::child::{Ended, Engine, end_of};
use crate::outcome::histogram_of;
use crate::scene::pollers;
use crate::scripted::Step::{Open, Read, Reply};
use crate::scripted::{Scripted, pause};
use crate::speech::Speech;

const SECOND: u64 = 1_000_000_000;

fn plan(url: &str, poller: &str) -> Value {
    json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {
            "url": url,
            "message": {"source": {"from": "sequence", "bytes": 20}},
            "expect": {"content": {"is": "echo"}},
        },
        "load": {"connections": 4, "executor": {"kind": "open", "rate": 1000.0}},
        "stop": {"duration_ns": 30 * SECOND},
        "generator": {"poller": poller},
    })
}

/// A server that answers its first connection and no other.
fn mute() -> Scripted {
    let scripts = vec![vec![Open, Read, Reply], vec![Open, Read]];
    Scripted::start(Speech::Stream, None, scripts)
}

/// One message that is never answered, and all the time in the world.
fn patient(server: &Scripted, poller: &str, drain: u64) -> Value {
    let mut plan = plan(&format!("tcp://{}", server.address()), poller);
    plan["load"] = json!({"connections": 1});
    plan["stop"] = json!({"requests": 1});
    plan["phases"] = json!({"timeout_ns": 1000 * SECOND, "drain_ns": drain});
    plan
}

fn is_draining(line: &Value) -> bool {
    line["phase"] == "drain"
}

/// Ended by this signal: in order, with a partial result, or before it could listen.
fn check_interrupted(ended: &Ended, signal: Signal) {
    let number = signal.as_raw();
    if ended.status.signal() == Some(number) {
        assert!(ended.lines.is_empty(), "it had begun: {ended:?}");
        return;
    }
    assert_eq!(ended.status.code(), Some(128 + number), "{ended:?}");
    let kind = ended.lines.last().map(|line| line["kind"].clone());
    if kind == Some(json!("failure")) {
        assert_eq!(ended.last("failure")["exit_code"], json!(128 + number));
        assert_eq!(ended.complaint.lines().count(), 1, "{ended:?}");
        return;
    }
    let summary = ended.summary();
    assert_eq!((&summary["end"], &summary["signal"]), (&json!("interrupted"), &json!(number)));
}

#[test]
fn a_signal_at_any_moment_leaves_a_partial_result() {
    let server = Respond::start(&[]);
    for poller in pollers() {
        let url = format!("ws://{}/", server.http);
        // Moments from before the first instruction to the middle of the load.
        std::thread::scope(|scope| {
            for round in 0..16_u64 {
                let plan = plan(&url, &poller);
                scope.spawn(move || {
                    let signal = if round % 2 == 0 { Signal::INT } else { Signal::TERM };
                    let engine = Engine::run(&plan);
                    pause(Duration::from_micros(round * round * 2500));
                    engine.send(signal);
                    check_interrupted(&engine.end(), signal);
                });
            }
        });
    }
}

#[test]
fn a_signal_is_heard_while_the_first_reply_is_awaited() {
    let server = Scripted::start(Speech::Stream, None, vec![vec![Read]]);
    for poller in pollers() {
        let mut plan = patient(&server, &poller, SECOND);
        plan["phases"]["connect_ns"] = json!(1000 * SECOND);
        let engine = Engine::run(&plan);
        pause(Duration::from_millis(300));
        engine.send(Signal::INT);
        check_interrupted(&engine.end(), Signal::INT);
    }
}

#[test]
fn a_signal_ends_a_drain_that_would_be_long() {
    for poller in pollers() {
        let server = mute();
        let mut engine = Engine::run(&patient(&server, &poller, SECOND));
        engine.await_line(is_draining);
        engine.send(Signal::TERM);
        let ended = engine.end();
        check_interrupted(&ended, Signal::TERM);
        assert_eq!(ended.summary()["counters"]["in_flight"], json!(1));
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for poller in pollers() {
        let server = mute();
        let mut engine = Engine::run(&patient(&server, &poller, 1000 * SECOND));
        engine.await_line(is_draining);
        engine.send(Signal::INT);
        // Two that come together are one: the first must have been taken.
        engine.await_line(is_draining);
        engine.await_line(is_draining);
        engine.send(Signal::INT);
        let ended = engine.end();
        assert_eq!(ended.status.code(), Some(130), "{ended:?}");
        assert!(ended.lines.iter().all(|line| line["kind"] != "summary"), "{ended:?}");
    }
}

#[test]
fn a_pause_is_seen_as_lag_and_its_intervals_are_marked() {
    let server = Respond::start(&[]);
    for poller in pollers() {
        let mut plan = plan(&format!("ws://{}/", server.http), &poller);
        plan["stop"]["duration_ns"] = json!(3 * SECOND);
        let mut engine = Engine::run(&plan);
        engine.await_load();
        engine.send(Signal::STOP);
        pause(Duration::from_secs(2));
        engine.send(Signal::CONT);
        let ended = engine.end();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        let summary = ended.summary();
        // 2 s are 20 intervals; the first and the last may be only touched.
        assert!(summary["disturbed_intervals"].as_u64() >= Some(18), "{summary}");
        for metric in ["pacing_lag", "response_time"] {
            let times = histogram_of(summary["histograms"][metric].as_str().expect("recorded"));
            assert!(times.max() >= 19 * SECOND / 10, "{metric}: {} ns", times.max());
        }
    }
}

/// The end of its interval comes in time, but what was recorded in it does not tell of the server.
#[test]
fn a_pause_within_an_interval_marks_that_one() {
    let prompt = Respond::start(&[]);
    let slow = Respond::start(&["--delay", "600ms"]);
    let paced = json!({"connections": 1, "executor": {"kind": "open", "rate": 50.0}});
    let closed = json!({"connections": 1});
    for poller in pollers() {
        // The one waits for what is due, the other for nothing but the reply.
        for (server, load) in [(&prompt, &paced), (&slow, &closed)] {
            let mut plan = plan(&format!("ws://{}/", server.http), &poller);
            plan["phases"]["interval_ns"] = json!(4 * SECOND);
            plan["stop"]["duration_ns"] = json!(4 * SECOND);
            plan["load"] = load.clone();
            let mut engine = Engine::run(&plan);
            engine.await_line(|line| line["kind"] == "interval");
            // One alone may fall into work on a message, which has no end that it could miss.
            for _ in 0..4 {
                pause(Duration::from_millis(300));
                engine.send(Signal::STOP);
                pause(Duration::from_millis(300));
                engine.send(Signal::CONT);
            }
            let ended = engine.end();
            assert_eq!(ended.status.code(), Some(0), "{ended:?}");
            assert!(ended.summary()["disturbed_intervals"].as_u64() >= Some(1), "{ended:?}");
        }
    }
}

#[test]
fn an_output_that_is_full_or_gone_is_told() {
    let server = Respond::start(&[]);
    let url = format!("ws://{}/", server.http);
    for format in ["json", "text"] {
        let mut command = engine();
        command.args(["load", &url, "-d", "300ms", "--warmup", "0s", "--format", format]);
        let full = File::options().write(true).open("/dev/full").expect("a full disk");
        let output = command.stdout(full).output().expect("the engine starts");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let complaint = text(&output.stderr);
        assert!(complaint.contains("the output can't be written: No space left"), "{complaint}");
        assert_eq!(complaint.trim().lines().count(), 1, "{complaint}");
    }
    // What went wrong before is said all the same.
    let full = File::options().write(true).open("/dev/full").expect("a full disk");
    let mut command = engine();
    command.args(["load", "http://no-such-host.invalid/", "--format", "json"]);
    let output = command.stdout(full).output().expect("the engine starts");
    assert!(text(&output.stderr).contains("no-such-host.invalid"), "{output:?}");
}

#[test]
fn an_output_that_nobody_reads_ends_the_load() {
    let server = Respond::start(&[]);
    for poller in pollers() {
        let mut plan = plan(&format!("ws://{}/", server.http), &poller);
        plan["phases"] = json!({"interval_ns": 10_000_000});
        let mut command = engine();
        command.arg("run").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the engine starts");
        writeln!(child.stdin.as_mut().expect("piped"), "{plan}").expect("written");
        // A pipe takes some of them; what it does not take is held up to 256.
        pause(Duration::from_secs(10));
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        let complaint = text(&output.stderr);
        assert!(complaint.contains("256 intervals behind"), "{complaint}");
    }
}

#[test]
fn a_server_that_is_killed_leaves_right_sums() {
    for scheme in ["http", "ws"] {
        for poller in pollers() {
            let mut server = Respond::start(&[]);
            let plan = plan(&format!("{scheme}://{}/echo", server.http), &poller);
            let mut engine = Engine::run(&plan);
            engine.await_load();
            kill_process(Pid::from_child(&server.child), Signal::KILL).expect("killed");
            assert_eq!(end_of(&mut server.child).signal(), Some(9));
            // Its sockets are closed when the kernel finds the time, which may be seconds later.
            engine.await_line(|line| {
                let connections = &line["connections"];
                let refused = connections["failed"]["refused"].as_u64();
                connections["open"] == 0 && refused > Some(0)
            });
            engine.send(Signal::INT);
            let ended = engine.end();
            check_interrupted(&ended, Signal::INT);
            let connections = &ended.summary()["connections"];
            assert_eq!(connections["open"], json!(0), "{connections}");
            let attempted = connections["attempted"].as_u64().expect("a number");
            // Of a tenth of a second each.
            let intervals = ended.lines.iter().filter(|line| line["kind"] == "interval").count();
            let most = 4 * (intervals as u64 + 10);
            assert!(attempted < most, "{attempted} attempts in {intervals} intervals are a spin");
            let ends = connections["closed"].as_object().expect("an object");
            let known = |reason: &String| ["truncated", "reset", "server"].contains(&&**reason);
            assert!(!ends.is_empty() && ends.keys().all(known), "{connections}");
        }
    }
}

#[test]
fn whoever_cannot_be_reached_costs_exit_code_1() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|held| held.local_addr());
    let url = format!("http://{}/", free.expect("a free port"));
    let output = run(&["load", &url, "--connect-timeout", "300ms"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("is the server running?"), "{output:?}");
}
