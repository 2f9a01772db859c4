//! Players at tables: every copy of every message is accounted for, at each of its receivers.

use serde_json::{Value, json};
use wiretrial_load::measure::snapshot::{Deliveries, Lobby};
use wiretrial_load::plan::Plan;
use wiretrial_respond::Script;

use crate::outcome::checked;
use crate::rig::Rig;

const SCHEMES: [&str; 6] =
    ["styx", "styx+json", "styx+ws", "styx+json+ws", "styx+wss", "styx+json+wss"];
const MS: u64 = 1_000_000;

fn at_tables(rig: &Rig, scheme: &str, connections: u32, table_size: u32) -> Value {
    let mut plan = rig.plan(scheme);
    plan["target"]["styx"] = json!({"table_size": table_size});
    plan["load"] = json!({"connections": connections});
    plan
}

#[test]
fn everybody_at_a_table_gets_every_message() {
    let rig = Rig::new(Script::default());
    for scheme in SCHEMES {
        for (connections, table_size, depth, threads) in
            [(1, 1, 1, 1), (6, 3, 1, 1), (5, 2, 1, 2), (4, 4, 8, 1)]
        {
            let mut plan = at_tables(&rig, scheme, connections, table_size);
            plan["load"]["depth"] = json!(depth);
            plan["generator"] = json!({"threads": threads});
            plan["stop"] = json!({"requests": 600});
            let outcome = checked(&plan);
            let counters = &outcome.summary.counters;
            let name = format!("{scheme}, {connections} players, {table_size} at a table");
            assert_eq!((counters.sent, counters.ok), (600, 600), "{name}: {:?}", outcome.errors());
            let Deliveries { expected, ok, in_flight, .. } = counters.deliveries;
            // Who draws a message is left to the loop; at the odd one's table of one it has one copy.
            let most = 600 * u64::from(table_size);
            let least = if connections % table_size == 0 { most } else { 600 };
            assert!((least..=most).contains(&expected), "{name}: {expected}");
            assert_eq!((ok, in_flight), (expected, 0), "{name}: {:?}", counters.deliveries);
        }
    }
}

#[test]
fn every_player_has_its_own_instants() {
    let rig = Rig::new(Script::default());
    let mut plan = at_tables(&rig, "styx", 50, 5);
    plan["load"]["executor"] = json!({"kind": "open", "rate": 500.0, "pacing": "phased"});
    plan["stop"] = json!({"duration_ns": 1_000 * MS});
    let outcome = checked(&plan);
    let counters = &outcome.summary.counters;
    assert_eq!(counters.sent + counters.dropped, 500);
    assert_eq!(counters.ok, counters.sent, "{:?}", outcome.errors());
    assert_eq!(counters.deliveries.ok, 5 * counters.sent);
    assert_eq!(outcome.histogram("response_time").expect("recorded").len(), counters.sent);
}

#[test]
fn the_table_s_delay_shows_in_both_loops_and_costs_only_one_of_them_its_rate() {
    let rig = Rig::new(Script::default());
    let mut plan = at_tables(&rig, "styx+json+ws", 4, 2);
    plan["target"]["styx"]["delay_ms"] = json!(50);
    plan["stop"] = json!({"duration_ns": 1_000 * MS});
    plan["load"]["executor"] = json!({"kind": "open", "rate": 40.0, "pacing": "phased"});
    let open = checked(&plan);
    assert_eq!(open.summary.counters.sent + open.summary.counters.dropped, 40);
    for name in ["response_time", "delivery_time"] {
        let least = open.histogram(name).expect("recorded").min();
        assert!(least >= 50 * MS, "{name}: {least}");
    }
    // 100 ms after the response: at most 1 / (0.1 + 0.05) messages per second and connection.
    plan["load"]["executor"] = json!({"kind": "after-response", "pause_ns": 100 * MS});
    let after = checked(&plan);
    let counters = &after.summary.counters;
    assert!((1..=28).contains(&counters.sent), "{counters:?}");
    assert!(!after.summary.histograms.contains_key("response_time"), "nothing is due there");
}

#[test]
fn the_lobby_is_counted_apart_from_copies() {
    let rig = Rig::new(Script::default());
    let nothing = checked(&at_tables(&rig, "styx", 1, 1)).summary.counters.lobby;
    assert_eq!(nothing, Lobby::default());
    for scheme in ["styx", "styx+json", "styx+json+wss"] {
        let mut plan = at_tables(&rig, scheme, 6, 3);
        plan["load"]["executor"] = json!({"kind": "open", "rate": 60.0, "pacing": "phased"});
        plan["stop"] = json!({"duration_ns": 2_500 * MS});
        plan["target"]["styx"]["lobby"] = json!(true);
        let outcome = checked(&plan);
        let counters = &outcome.summary.counters;
        let Lobby { ok, mismatch, out_of_order, missing } = counters.lobby;
        assert!(ok >= 2 * 6, "{scheme}: {ok}");
        assert_eq!((mismatch, out_of_order, missing), (0, 0, 0), "{scheme}");
        assert_eq!(counters.deliveries.ok, 3 * counters.sent, "{scheme}: {:?}", outcome.errors());
        let told: u64 = outcome.intervals.iter().map(|one| one.counters.lobby.ok).sum();
        assert_eq!(told, ok, "{scheme}");
    }
}

#[test]
fn copies_that_come_twice_are_duplicates() {
    let rig = Rig::faulty("repeat@10");
    let mut plan = at_tables(&rig, "styx", 2, 2);
    plan["stop"] = json!({"requests": 200});
    let outcome = checked(&plan);
    let counters = &outcome.summary.counters;
    assert_eq!((counters.ok, counters.deliveries.ok), (200, 400), "{:?}", counters.deliveries);
    // The preflight had one copy for itself.
    let duplicate = counters.deliveries.duplicate;
    assert!((39..=40).contains(&duplicate), "{:?}", counters.deliveries);
}

#[test]
fn copies_that_overtake_each_other_are_out_of_order() {
    // One in four: the third of each pack, behind the one that preflight had, so that there is a next.
    let rig = Rig::faulty("swap@4");
    let mut plan = at_tables(&rig, "styx", 1, 1);
    plan["load"] = json!({"connections": 1, "depth": 4, "pack": 4});
    plan["stop"] = json!({"requests": 400});
    let outcome = checked(&plan);
    let deliveries = outcome.summary.counters.deliveries;
    assert!(deliveries.out_of_order > 0, "{deliveries:?}");
    // Where the pack was read in two, there may have been none: then the one before comes again.
    assert_eq!(deliveries.missing, deliveries.duplicate, "{deliveries:?}");
    assert_eq!(outcome.summary.counters.ok, deliveries.ok + deliveries.out_of_order);
}

#[test]
fn copies_with_other_content_are_mismatches() {
    let rig = Rig::faulty("wrong@10");
    let mut plan = at_tables(&rig, "styx+ws", 2, 2);
    plan["stop"] = json!({"requests": 200});
    let outcome = checked(&plan);
    let counters = &outcome.summary.counters;
    let mismatch = counters.deliveries.mismatch;
    assert!((40..=41).contains(&mismatch), "one copy in ten of 400: {:?}", counters.deliveries);
    let own = outcome.errors().get("mismatch").copied().unwrap_or_default();
    assert!(own > 0 && own <= mismatch, "those of its own are failed messages: {own}");
}

#[test]
fn copies_that_never_come_are_missing() {
    // A copy that is cut ends its connection: the others at the table go on, and what it was owed is missing.
    let rig = Rig::faulty("close@50");
    let mut plan = at_tables(&rig, "styx", 4, 4);
    plan["load"]["executor"] = json!({"kind": "open", "rate": 200.0, "pacing": "phased"});
    plan["stop"] = json!({"duration_ns": 1_000 * MS});
    let outcome = checked(&plan);
    let deliveries = outcome.summary.counters.deliveries;
    assert!(deliveries.missing > 0, "{deliveries:?}");
    assert!(outcome.summary.connections.opened > 4);
    assert!(outcome.errors().contains_key("truncated"), "{:?}", outcome.errors());
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let rig = Rig::new(Script::default());
    let rows: [(Value, Value, &str); 7] = [
        (json!({"styx": {"table_size": 0}}), json!({}), "table_size: 0 is outside"),
        (
            json!({"styx": {"delay_ms": 3_000_000_000_u32}}),
            json!({}),
            "delay_ms: 3000000000 is over",
        ),
        (
            json!({"message": {"source": {"from": "sequence", "bytes": 20}}}),
            json!({}),
            "carries no payload",
        ),
        (json!({"expect": {"content": {"is": "learned"}}}), json!({}), "each copy is checked"),
        (json!({}), json!({"depth": 65}), "at most 64 messages"),
        (json!({}), json!({"requests_per_connection": 5}), "players stay"),
        (json!({"styx": {"table_size": 8}}), json!({"connections": 8}), "use --threads 1"),
    ];
    for (target, load, expected) in rows {
        let mut plan = rig.plan("styx");
        plan["generator"] = json!({"threads": 2});
        plan["load"] = json!({"connections": 2});
        for (place, changes) in [("target", &target), ("load", &load)] {
            for (name, value) in changes.as_object().expect("an object") {
                plan[place][name] = value.clone();
            }
        }
        let refusal = Plan::from_json(&plan.to_string()).expect_err(expected).to_string();
        assert!(refusal.contains(expected), "{refusal}");
    }
}
