//! `run`: a plan on standard input, snapshots on standard output, `stop` and signals in between.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{Respond, engine, run, text};

fn start(server: &Respond, duration_ns: u64) -> Child {
    let plan = json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {
            "url": format!("ws://{}/", server.http),
            "message": {"source": {"from": "sequence", "bytes": 20}},
        },
        "load": {"connections": 4},
        "stop": {"duration_ns": duration_ns},
    });
    let mut child = engine()
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    let stdin = child.stdin.as_mut().expect("piped");
    writeln!(stdin, "{plan}").expect("written");
    child
}

/// Reads lines; calls `at_third` once load is running; gives all of them.
fn snapshots(child: &mut Child, at_third: impl FnOnce(&mut Child)) -> Vec<Value> {
    let out = child.stdout.take().expect("piped");
    let mut lines = BufReader::new(out).lines();
    let mut all: Vec<Value> = Vec::new();
    let parse = |line: std::io::Result<String>| -> Value {
        serde_json::from_str(&line.expect("a line")).expect("JSON")
    };
    while all.len() < 6 {
        let Some(line) = lines.next() else { break };
        all.push(parse(line));
    }
    at_third(child);
    all.extend(lines.map(parse));
    all
}

fn check_ends_early(all: &[Value], signal: &Value) {
    let kinds: Vec<&str> = all.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("start", "summary"));
    assert!(kinds[1..kinds.len() - 1].iter().all(|kind| *kind == "interval"));
    let summary = &all[all.len() - 1];
    assert_eq!((&summary["end"], &summary["signal"]), (&json!("interrupted"), signal));
    let counters = &summary["counters"];
    assert!(counters["ok"].as_u64() > Some(0));
    assert_eq!(counters["sent"], counters["ok"], "{counters}");
}

#[test]
fn the_word_stop_ends_a_run_with_its_summary() {
    let server = Respond::start(&[]);
    let mut child = start(&server, 60_000_000_000);
    let all = snapshots(&mut child, |child| {
        writeln!(child.stdin.as_mut().expect("piped"), "stop").expect("written");
    });
    check_ends_early(&all, &Value::Null);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn signals_end_a_run_with_its_summary_and_their_exit_code() {
    let server = Respond::start(&[]);
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
        let mut child = start(&server, 60_000_000_000);
        let all = snapshots(&mut child, |child| {
            kill_process(Pid::from_child(child), signal).expect("sent");
        });
        check_ends_early(&all, &json!(number));
        assert_eq!(child.wait().expect("it ends").code(), Some(128 + number));
    }
}

#[test]
fn the_end_of_the_input_is_not_stop() {
    let server = Respond::start(&[]);
    let mut child = start(&server, 700_000_000);
    drop(child.stdin.take());
    let all = snapshots(&mut child, |_| {});
    assert_eq!(all[all.len() - 1]["end"], json!("complete"));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_run_that_cannot_begin_says_so_on_its_only_line() {
    let server = Respond::start(&["--fault", "status"]);
    let url = format!("http://{}/message", server.http);
    let output = run(&["load", &url, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let line: Value = serde_json::from_str(text(&output.stdout).trim()).expect("one line of JSON");
    assert_eq!((&line["kind"], &line["class"]), (&json!("failure"), &json!("status")));
    assert_eq!(line["exit_code"], json!(1));
}

#[test]
fn schemas_are_json_schemas() {
    for side in ["plan", "snapshot", "exchange", "observation"] {
        let output = run(&["schema", side]);
        let schema: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(schema["$schema"].as_str().is_some_and(|text| text.contains("json-schema.org")));
    }
}

/// The part of a load that another engine makes too, with the beginning still to be said.
fn start_sharing(server: &Respond) -> Child {
    let plan = json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {
            "url": format!("ws://{}/", server.http),
            "message": {"source": {"from": "sequence", "bytes": 20}},
        },
        "load": {"connections": 2, "executor": {"kind": "open", "rate": 100.0}},
        "stop": {"requests": 20},
        "share": {
            "first_worker": 1, "workers": 2, "first_connection": 2, "connections": 4,
            "start_monotonic_ns": 1, "awaits_begin": true,
        },
    });
    let mut child = engine()
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    writeln!(child.stdin.as_mut().expect("piped"), "{plan}").expect("written");
    child
}

fn parsed(line: std::io::Result<String>) -> Value {
    serde_json::from_str(&line.expect("a line")).expect("JSON")
}

/// Reads on until the connections stand, and gives the instant.
fn until_connected(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> u64 {
    loop {
        let line = parsed(lines.next().expect("it says when they stand"));
        if line["kind"] == "connected" {
            return line["at_ns"].as_u64().expect("an instant");
        }
        assert!(line["kind"] == "start" || line["phase"] == "connect", "{line}");
    }
}

#[test]
fn the_word_begin_says_when_the_load_begins() {
    let server = Respond::start(&[]);
    let mut child = start_sharing(&server);
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let connected = until_connected(&mut lines);
    let begin = (connected + 400_000_000).next_multiple_of(100_000_000);
    let stdin = child.stdin.as_mut().expect("piped");
    writeln!(stdin, "begin {begin}").expect("written");
    let mut last = Value::Null;
    for line in lines.map(parsed) {
        let early = line["kind"] == "interval" && line["start_ns"].as_u64() < Some(begin);
        assert!(!early || line["counters"]["sent"] == json!(0), "{line}");
        last = line;
    }
    assert_eq!(last["counters"]["ok"], json!(20), "{last}");
    assert_eq!(last["measure_start_ns"], json!(begin));
    // The second of two workers: half a gap of its own after the first.
    assert!(last["first_send_ns"].as_u64() >= Some(begin + 5_000_000), "{last}");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_beginning_that_nobody_can_say_any_more_is_the_end() {
    let server = Respond::start(&[]);
    let mut child = start_sharing(&server);
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    until_connected(&mut lines);
    drop(child.stdin.take());
    let last = lines.map(parsed).last().expect("a last line");
    assert_eq!(
        (&last["kind"], &last["counters"]["sent"]),
        (&json!("summary"), &json!(0)),
        "{last}"
    );
    assert!(child.wait().expect("it ends").code().is_some());
}

#[test]
fn plans_can_be_checked_without_a_run() {
    let plan = |content: &str| {
        format!(
            r#"{{"schema":"wiretrial-plan","version":1,"target":{{"url":"http://127.0.0.1:1/","expect":{{"content":{content}}}}},"load":{{"connections":1}},"stop":{{"requests":1}}}}"#
        )
    };
    let good = plan(r#"{"is":"matching","rules":["json:a=1"]}"#);
    let bad = plan(r#"{"is":"matching","rules":["json:a","regex:("]}"#);
    let cases = [
        (String::new(), 0, ""),
        (format!("{good}\n{good}\n"), 0, ""),
        (format!("{good}\n{bad}"), 2, "expect.content: 'regex:(': unclosed group"),
        ("{}".to_owned(), 2, "the plan is not readable"),
    ];
    for (input, code, says) in cases {
        let mut child = engine()
            .arg("check")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("written");
        let output = child.wait_with_output().expect("it ends");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(says) && said.lines().count() <= 1, "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_plan_of_traffic_has_a_line_for_each_route_and_flow() {
    let server = Respond::start(&[]);
    let route =
        |name: &str, path: &str| json!({"name": name, "method": "GET", "target": [{"text": path}]});
    let plan = json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {"url": format!("http://{}", server.http)},
        "load": {"connections": 2},
        "stop": {"sessions": 10},
        "traffic": {
            "routes": [route("GET /", "/"), route("a message", "/message")],
            "flows": [{"name": "both", "steps": [{"route": 0}, {"route": 1}]}],
        },
    });
    let mut child = engine()
        .args(["run", "--format", "text"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    writeln!(child.stdin.as_mut().expect("piped"), "{plan}").expect("written");
    let output = child.wait_with_output().expect("it ends");
    let told = text(&output.stdout);
    for line in [
        "  route          GET /: ok 10  errors 0",
        "  route          a message: ok 10  errors 0",
        "  flow           both: sessions 10  done 10  failed 0",
    ] {
        assert!(told.contains(line), "{told}");
    }
}
