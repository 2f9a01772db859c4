//! `ask`: a plan on standard input, its exchanges on standard output.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::{Respond, engine, text};

fn ask(url: &str, flags: &[&str]) -> Output {
    let plan = json!({
        "schema": "wiretrial-plan", "version": 1,
        "target": {"url": url},
        "load": {"connections": 8},
        "stop": {"duration_ns": 60_000_000_000_u64},
    });
    let mut child = engine()
        .arg("ask")
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    child.stdin.take().expect("piped").write_all(plan.to_string().as_bytes()).expect("written");
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_plan_of_one_message_is_asked_as_often_as_wanted() {
    let server = Respond::start(&[]);
    let flags = ["--sessions", "3", "--connections", "2", "--most-body", "10"];
    let output = ask(&format!("http://{}/message", server.http), &flags);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    let lines: Vec<Value> =
        told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.last(), Some(&json!({"end": {"asked": 3, "failed": 0, "left": 0}})));
    for (number, line) in lines[..3].iter().enumerate() {
        assert_eq!(line["connection"], json!(number % 2), "{line}");
        assert_eq!((&line["status"], &line["is_cut"]), (&json!(200), &json!(true)), "{line}");
        assert_eq!(line["body"].as_str().map(str::len), Some(16), "10 bytes: {line}");
    }
}

#[test]
fn what_cannot_be_asked_is_one_line() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port");
    let nobody = format!("http://{free}/");
    let rows: [(&str, &[&str], i32, &str); 3] = [
        (
            "socketio+ws://127.0.0.1:1",
            &[],
            2,
            "can't be asked: ask http and https URLs, or traffic",
        ),
        (&nobody, &["--no-wait"], 1, "connection refused: nothing listens there"),
        (&nobody, &["--sessions", "0"], 2, "at least 1"),
    ];
    for (url, flags, code, says) in rows {
        let output = ask(url, flags);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{url}: {said}");
        assert!(said.contains(says) && output.stdout.is_empty(), "{url}: {said}");
    }
}
