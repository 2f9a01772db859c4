//! Rows about what the machine is short of: refused before the load, a client's fault in it.

use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, prlimit};
use serde_json::{Value, json};

use crate::binary::{Respond, text};
use crate::child::Engine;
use crate::scene::pollers;

const ENGINE: &str = env!("CARGO_BIN_EXE_wiretrial-engine");

#[test]
fn too_few_descriptors_are_refused_with_the_arithmetic() {
    let limited = "ulimit -n 25 && exec \"$0\" load http://127.0.0.1:9/ -c 10";
    let output = Command::new("sh").args(["-c", limited, ENGINE]).output().expect("sh starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let complaint = text(&output.stderr);
    assert!(
        complaint.contains("10 connections need 74 descriptors, the limit is 25"),
        "{complaint}"
    );
    assert!(complaint.contains("ulimit -n 74"), "{complaint}");
}

#[test]
fn what_one_table_cannot_hold_is_held_by_one_per_thread() {
    let server = Respond::start(&["--threads", "2", "--own-descriptors"]);
    for poller in pollers() {
        let load = format!(
            "ulimit -n 120 && exec \"$0\" load ws://{}/ -c 150 --threads 4 --poller {poller} --hold -d 300ms --rate 200 --format json",
            server.http
        );
        let output = Command::new("sh").args(["-c", &load, ENGINE]).output().expect("sh starts");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let last = text(&output.stdout).lines().last().expect("a summary").to_owned();
        let summary: Value = serde_json::from_str(&last).expect("JSON");
        assert_eq!(summary["connections"]["opened"], 150, "{last}");
        // Each connection once, and then the samples of 1.3 s at most.
        let ok = summary["counters"]["ok"].as_u64().expect("a number");
        assert!((151..=150 + 261).contains(&ok), "{last}");
        assert_eq!(summary["counters"]["errors"], json!({}), "{last}");
        assert_eq!(summary["connections"]["open"], 150, "{last}");
    }
}

#[test]
fn descriptors_that_run_out_are_the_clients_fault_and_no_spin() {
    let server = Respond::start(&[]);
    for poller in pollers() {
        let plan = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": format!("ws://{}/", server.http),
                "message": {"source": {"from": "sequence", "bytes": 20}},
            },
            "load": {"connections": 8, "requests_per_connection": 1},
            "stop": {"duration_ns": 2_000_000_000_u64},
            "generator": {"poller": poller},
        });
        let mut engine = Engine::run(&plan);
        engine.await_load();
        let few = Rlimit { current: Some(5), maximum: Some(5) };
        prlimit(Some(engine.pid()), Resource::Nofile, few).expect("lowered");
        let ended = engine.end();
        check_clients_fault(ended.status.code(), ended.summary(), 8);
        let failed = &ended.summary()["connections"]["failed"];
        assert!(
            ended.summary()["examples"]["client"]
                .as_str()
                .is_some_and(|text| text.contains("descriptors")),
            "{failed}"
        );
    }
}

/// Code 4, and attempts that back off.
fn check_clients_fault(code: Option<i32>, summary: &Value, connections: u64) {
    assert_eq!(code, Some(4), "{summary}");
    let errors = &summary["counters"]["errors"];
    let failed = summary["connections"]["failed"]["client"].as_u64();
    assert!(errors["client"].as_u64() > Some(0), "{errors}");
    assert!(failed > Some(0) && failed < Some(connections * 30), "{failed:?} attempts: a spin");
    assert!(summary["counters"]["ok"].as_u64() > Some(0), "{summary}");
}

/// Runs a script in a network of its own with ten local ports; none where that is not allowed.
fn with_ten_ports(script: &str) -> Option<std::process::Output> {
    let prepare = "ip link set lo up && echo 50000 50009 > /proc/sys/net/ipv4/ip_local_port_range";
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "sh", "-c", script, ENGINE]);
        command.stdin(Stdio::null()).output()
    };
    if !namespace(prepare).is_ok_and(|output| output.status.success()) {
        let mut err = std::io::stderr().lock();
        let why = "skipped: this machine lets nobody make a network namespace";
        let _ = std::io::Write::write_all(&mut err, why.as_bytes());
        return None;
    }
    // In braces: a script's own `&` must not take the preparation into the background.
    Some(namespace(&format!("{prepare} && {{ {script}; }}")).expect("unshare starts"))
}

#[test]
fn too_few_ports_are_refused_with_the_arithmetic() {
    let script = "exec \"$0\" load http://127.0.0.1:9/ -c 25";
    let Some(output) = with_ten_ports(script) else { return };
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let complaint = text(&output.stderr);
    for part in ["25 connections", "there are 10", "at most 10 connections", "--sources"] {
        assert!(complaint.contains(part), "{complaint}");
    }
}

#[test]
fn all_limits_are_told_at_once_with_commands_that_keep_them() {
    // The server that is found too small, and then what the engine says, word for word.
    let script = r#"
        cd "$(mktemp -d)"
        serve() {
            (ulimit -n 200; eval "exec $1 > ready") & server=$!
            for _ in $(seq 400); do grep -q ready ready && return; sleep 0.05; done
        }
        engine=$0
        serve "$engine respond --http 127.0.0.1:8080"
        (ulimit -n 150; "$engine" load ws://127.0.0.1:8080/ -c 250 -n 250 --format json 2> told)
        echo "code $?"; cat told
        kill $server; wait $server; rm ready
        serve "$(sed -n 's/^first: start the server again as: //p' told)"
        (ulimit -n 150; eval "$(sed -n 's/^run: //p' told)")
        kill $server; rm -r "$PWD"
    "#;
    let Some(output) = with_ten_ports(script.trim()) else { return };
    let out = text(&output.stdout);
    assert!(out.contains("\ncode 1\n"), "{output:?}");
    for part in [
        "250 connections need 314 descriptors, the limit is 150",
        "need 250 local ports each, there are 10",
        "descriptors for 250 connections, its limit is 200\n",
        "--own-descriptors\n",
        " --format json --threads 4 --sources 127.1.0.0/26\n",
    ] {
        assert!(out.contains(part), "no '{part}' in {output:?}");
    }
    let summary: Value =
        serde_json::from_str(out.lines().last().unwrap_or_default()).expect("a summary");
    assert_eq!(summary["connections"]["opened"], 250, "{summary}");
    assert_eq!(summary["counters"]["ok"], 250, "{summary}");
}

#[test]
fn ports_that_run_out_are_the_clients_fault_and_no_spin() {
    let script = "\"$0\" respond --http 127.0.0.1:8080 > /dev/null & server=$!; \
        \"$0\" load http://127.0.0.1:8080/message -c 4 --requests-per-connection 1 -d 1s \
            --warmup 0s --format json; \
        code=$?; kill $server; exit $code";
    let Some(output) = with_ten_ports(script) else { return };
    let lines = text(&output.stdout);
    let summary: Value =
        serde_json::from_str(lines.lines().last().unwrap_or_default()).expect("a summary");
    check_clients_fault(output.status.code(), &summary, 4);
    let example = summary["examples"]["client"].as_str().expect("an example");
    assert!(example.contains("local ports"), "{example}");
}
