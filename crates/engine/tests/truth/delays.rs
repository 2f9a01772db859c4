//! Known delays are recovered; a stall shows in both loops as what it is.

use serde_json::json;
use wiretrial_respond::Script;

use crate::outcome::checked;
use crate::rig::{PROTOCOLS, Rig};

const MS: u64 = 1_000_000;

fn delayed(text: &str) -> Script {
    Script { delay: Some(text.parse().expect("a delay")), ..Script::default() }
}

#[test]
fn no_reply_is_faster_than_a_constant_delay() {
    let rig = Rig::new(delayed("5ms"));
    for scheme in PROTOCOLS {
        let mut plan = rig.plan(scheme);
        plan["load"] = json!({"connections": 10});
        plan["stop"] = json!({"requests": 200});
        let outcome = checked(&plan);
        let times = outcome.histogram("service_time").expect("recorded");
        assert_eq!(times.len(), 200, "{scheme}");
        // A histogram tells its least value by the lower edge of its bucket.
        assert!(times.min() >= times.lowest_equivalent(5 * MS), "{scheme}: {} ns", times.min());
    }
}

#[test]
fn both_modes_of_a_delay_are_recovered_in_their_shares() {
    let rig = Rig::new(delayed("1ms,200ms@0.1"));
    for scheme in PROTOCOLS {
        let mut plan = rig.plan(scheme);
        plan["load"] = json!({"connections": 50});
        plan["stop"] = json!({"requests": 1500});
        let outcome = checked(&plan);
        let times = outcome.histogram("service_time").expect("recorded");
        assert!(times.min() >= times.lowest_equivalent(MS), "{scheme}: {} ns", times.min());
        // The draws are seeded; 1500 at 0.1 have a standard deviation of 12. Between the modes lie
        // 199 ms, which no hiccup of a loaded machine bridges for many messages.
        let slow = times.count_between(200 * MS, u64::MAX);
        assert!((100..=210).contains(&slow), "{scheme}: {slow} of 1500 in the slow mode");
    }
}

#[test]
fn an_open_loop_shows_a_stall_in_full() {
    let stall = Some("at:500ms/1s".parse().expect("a stall"));
    for scheme in PROTOCOLS {
        let rig = Rig::new(Script { stall, ..Script::default() });
        let mut plan = rig.plan(scheme);
        plan["load"] = json!({"connections": 4, "executor": {"kind": "open", "rate": 500.0}});
        plan["stop"] = json!({"duration_ns": 2000 * MS});
        let outcome = checked(&plan);
        let (response, service) =
            (outcome.histogram("response_time"), outcome.histogram("service_time"));
        let (response, service) = (response.expect("recorded"), service.expect("recorded"));
        // Every message due in the stall waits for its end: one in two of them over half a second.
        assert!(response.max() >= 900 * MS, "{scheme}: {} ns", response.max());
        let over_half = response.count_between(500 * MS, u64::MAX);
        assert!(over_half >= 200, "{scheme}: {over_half}");
        // The four on the way paid it as service time; the others waited unsent, and that is lag.
        let served_slowly = service.count_between(500 * MS, u64::MAX);
        assert!(served_slowly <= 8, "{scheme}: {served_slowly}");
        let lag = outcome.histogram("pacing_lag").expect("recorded");
        assert!(lag.max() >= 800 * MS, "{scheme}: {} ns", lag.max());
    }
}

/// What falls due while other messages are being sent is sent next: nothing else would wake the
/// loop, where no reply comes, before the end of the interval or of the load.
#[test]
fn what_falls_due_while_others_are_sent_does_not_wait() {
    let rig = Rig::new(delayed("2s"));
    for scheme in PROTOCOLS {
        let mut plan = rig.plan(scheme);
        plan["load"] = json!({
            "connections": 1, "depth": 20_000, "executor": {"kind": "open", "rate": 200_000.0}
        });
        plan["stop"] = json!({"duration_ns": 900 * MS});
        plan["phases"]["interval_ns"] = json!(1000 * MS);
        plan["phases"]["drain_ns"] = json!(MS);
        let outcome = checked(&plan);
        let lag = outcome.histogram("pacing_lag").expect("recorded");
        assert_eq!(lag.len(), 20_000, "{scheme}");
        // All were due in the first 100 ms, a few microseconds apart, which is less than a send takes:
        // whoever slept after the first sends is late with the others by far more than a pause.
        let first = lag.value_at_quantile(0.1);
        assert!(first < 100 * MS, "{scheme}: {first} ns");
    }
}

#[test]
fn a_closed_loop_shows_a_stall_as_blocked_time() {
    let stall = Some("at:300ms/1s".parse().expect("a stall"));
    for scheme in PROTOCOLS {
        let rig = Rig::new(Script { stall, ..Script::default() });
        let mut plan = rig.plan(scheme);
        plan["load"] = json!({"connections": 4});
        plan["stop"] = json!({"duration_ns": 2000 * MS});
        let outcome = checked(&plan);
        let blocked = outcome.summary.blocked;
        assert!(blocked.exchanges >= 4, "{scheme}: {blocked:?}");
        assert!(blocked.slot_ns >= 4 * 900 * MS, "{scheme}: {blocked:?}");
        assert!(outcome.histogram("response_time").is_none(), "{scheme}: there is no due instant");
    }
}
