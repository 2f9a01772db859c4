//! `link` as a program meets it. What needs root is tested with namespaces of its own, in
//! `tests/lab/test_links.py`.

use serde_json::{Value, json};

use crate::{run, text};

#[test]
fn a_link_is_shown_as_it_is_understood() {
    let output = run(&["link", "--show", "--up", "delay=26ms,rate=8mbit", "--down", "loss=1%/4"]);
    assert!(output.status.success());
    let told: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    let up = json!({"bits_per_second": 8_000_000, "queue": {"bytes": 100_000}});
    assert_eq!((&told["kind"], &told["up"]["rate"]), (&json!("link"), &up));
    assert_eq!(told["up"]["delay_ns"], 26_000_000);
    assert_eq!(told["down"]["loss"], json!({"share": 0.01, "burst": 4.0}));
    assert_eq!(told["down"]["mtu"], 1500);
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let output =
        run(&["link", "--far-namespace", "/nowhere/net", "--near-namespace", "/nowhere/n"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("can't enter the network namespace /nowhere/n:"), "{said}");
}
