//! `observe` as a program meets it: marks on standard input, samples on standard output, its ends.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{engine, run, text};

fn start(flags: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = engine();
    command.arg("observe").args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the engine starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    (child, lines)
}

fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
    serde_json::from_str(&lines.next().expect("a line").expect("read")).expect("JSON")
}

#[test]
fn marks_are_answered_and_the_end_of_the_input_ends_it_well() {
    // A tree that stands still: the memory of one that ends while it is read is not known.
    let mut still = Command::new("sleep").arg("60").spawn().expect("it starts");
    let target = format!("test={}", still.id());
    let (mut child, mut lines) = start(&["--pid", &target, "--interval", "1h"]);
    let first = next(&mut lines);
    assert_eq!(
        (&first["kind"], &first["schema"]),
        (&json!("start"), &json!("wiretrial-observation"))
    );
    assert_eq!(first["targets"][0]["name"], "test");
    assert_eq!(next(&mut lines)["why"], "first");
    let mut input = child.stdin.take().expect("piped");
    for name in ["one", "two"] {
        writeln!(input, "mark {name}").expect("written");
        let sample = next(&mut lines);
        assert_eq!((&sample["why"], &sample["mark"]), (&json!("mark"), &json!(name)));
        let processes = &sample["targets"][0]["processes"];
        assert_eq!(processes["count"], 1, "{processes}");
        assert!(processes["pss_bytes"].as_u64() > Some(0), "{processes}");
    }
    drop(input);
    let last = next(&mut lines);
    assert_eq!((&last["why"], &last["end"]), (&json!("last"), &json!("input")));
    assert!(last["own_cpu_ns"].as_u64() > Some(0));
    assert!(lines.next().is_none());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    still.kill().expect("it stands");
    still.wait().expect("it ends");
}

#[test]
fn signals_end_it_with_the_last_sample_and_their_exit_code() {
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
        let (mut child, mut lines) = start(&["--host", "--interval", "1h"]);
        assert_eq!(
            (&next(&mut lines)["kind"], &next(&mut lines)["why"]),
            (&json!("start"), &json!("first"))
        );
        kill_process(Pid::from_child(&child), signal).expect("sent");
        assert_eq!(next(&mut lines)["end"], "signal");
        assert_eq!(child.wait().expect("it ends").code(), Some(128 + number));
    }
}

#[test]
fn its_time_ends_it_and_a_wrong_order_is_told() {
    let (child, lines) = start(&["--host", "--interval", "50ms", "--for", "200ms"]);
    let all: Vec<Value> =
        lines.map(|line| serde_json::from_str(&line.expect("read")).expect("JSON")).collect();
    assert_eq!(all[all.len() - 1]["end"], "time");
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(0));

    let (mut child, lines) = start(&["--host"]);
    writeln!(child.stdin.as_mut().expect("piped"), "begin").expect("written");
    let last = lines.last().expect("a line").expect("read");
    assert!(last.contains("\"end\":\"order\""), "{last}");
    let output = child.wait_with_output().expect("it ends");
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("'begin' is no order; write `mark NAME` or `stop`"), "{said}");
}

#[test]
fn a_process_that_has_ended_is_named() {
    let mut ended = engine().arg("--version").stdout(Stdio::null()).spawn().expect("started");
    let pid = ended.id().to_string();
    ended.wait().expect("it ends");
    let output = run(&["observe", "--pid", &pid]);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
    assert!(said.contains(&format!("can't observe process {pid}: it is not there")), "{said}");
}
