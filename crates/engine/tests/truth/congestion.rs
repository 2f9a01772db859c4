//! Who decides how much may be on its way over TCP: what was asked for is what the kernel tells.

use serde_json::json;
use wiretrial_load::{Refusal, RunError};
use wiretrial_net::Congestion;
use wiretrial_respond::Script;

use crate::outcome::{checked, run};
use crate::rig::Rig;

/// As plans and as the kernel have them.
const ALL: [(Congestion, &str, &str); 3] = [
    (Congestion::Cubic, "cubic", "cubic"),
    (Congestion::NewReno, "new-reno", "reno"),
    (Congestion::Bbr, "bbr", "bbr"),
];

#[test]
fn over_tcp_it_is_the_one_that_was_asked_for_or_the_load_is_refused() {
    let rig = Rig::new(Script::default());
    for (algorithm, asked, name) in ALL {
        for scheme in ["http", "https", "ws", "tcp"] {
            let mut plan = rig.plan(scheme);
            plan["target"]["http"]["congestion"] = json!(asked);
            if let Err(refusal) = algorithm.check_for_tcp() {
                let told = run(&plan).map(|outcome| outcome.start.congestion);
                let machine = RunError::Refused(Refusal::Machine(refusal.to_string()));
                assert_eq!(told.expect_err("it may not be had").to_string(), machine.to_string());
                continue;
            }
            let outcome = checked(&plan);
            assert_eq!(outcome.summary.counters.ok, 100, "{:?}", outcome.summary.examples);
            assert_eq!(outcome.start.congestion.as_deref(), Some(name), "{scheme}");
        }
    }
}

#[test]
fn where_nothing_is_asked_for_it_is_told_all_the_same() {
    let rig = Rig::new(Script::default());
    let outcome = checked(&rig.plan("http"));
    let usual = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    let usual = usual.expect("a setting of every kernel");
    assert_eq!(outcome.start.congestion.as_deref(), Some(usual.trim()));
}

/// Whatever the kernel has: it is the library's over QUIC.
#[test]
fn over_quic_the_kernel_is_not_asked() {
    let rig = Rig::with_http3(Script::default());
    for (_, asked, _) in ALL {
        let mut plan = rig.plan("https");
        plan["target"]["http"] = json!({"version": "3", "congestion": asked});
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 100, "{:?}", outcome.summary.examples);
        assert_eq!(outcome.start.congestion, None);
    }
}
