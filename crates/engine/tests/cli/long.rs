//! A long message costs time, not memory.

use serde_json::Value;

use crate::{Respond, run, text};

#[test]
fn a_message_is_larger_than_all_that_is_held() {
    let server = Respond::start(&[]);
    let url = format!("ws://{}/", server.http);
    for poller in ["auto", "epoll"] {
        let output = run(&[
            "load",
            &url,
            "-c",
            "1",
            "--payload",
            "32MiB",
            "-n",
            "2",
            "--timeout",
            "30s",
            "--poller",
            poller,
            "--format",
            "json",
        ]);
        let summary: Value =
            serde_json::from_str(text(&output.stdout).trim().lines().last().expect("a line"))
                .expect("JSON");
        assert_eq!(summary["counters"]["ok"], 2, "{poller}: {summary}");
        let peak = summary["generator"]["peak_rss_bytes"].as_u64().expect("a number");
        assert!(peak < 28 << 20, "{poller}: {peak} bytes");
    }
}
