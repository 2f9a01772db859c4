//! Users who share the connections of a pool, under a clock of the tests' own.

use std::sync::Arc;

use serde_json::json;

use super::tests::traffic;
use super::{Part, Sessions};
use crate::clock::Nanos;
use crate::executor::{Assignment, Budget, Next, Slots};
use crate::pacing::{Constant, Pacer};
use crate::plan::traffic::Traffic;

const MS: fn(u64) -> Nanos = Nanos::from_millis;

/// A flow of so many steps, with 5 ms of thought before each but the first.
fn flow(steps: usize) -> Arc<Traffic> {
    let later = json!({"route": 0, "think": {"kind": "constant", "ns": 5_000_000}});
    let mut all = vec![json!({"route": 0})];
    all.resize(steps, later);
    traffic(&json!([{"name": "f", "steps": all}]), &json!([]))
}

fn pool(
    traffic: Arc<Traffic>,
    users: u32,
    connections: u32,
    rate: Option<f64>,
    budget: Budget,
) -> (Sessions, Slots) {
    let part = Part {
        seed: 1,
        place: 0,
        workers: 1,
        first_session: 0,
        apart: 1,
        first_user: 0,
        keeps_rows: rate.is_none(),
        rehearsed: 1,
        in_turn: false,
    };
    let pacer = rate.map(|rate| Pacer::Constant(Constant::new(Nanos::ZERO, rate, 0.0)));
    let mut slots = Slots::new(connections, 1);
    (0..connections).for_each(|connection| slots.set_available(connection, true));
    let sessions = Sessions::new(traffic, part, users, Nanos::ZERO, pacer, None, budget);
    (sessions.sharing(connections, 1), slots)
}

/// Who sends now, on which connection, and how long it was blocked.
fn sent(all: &mut Sessions, slots: &mut Slots, now: Nanos) -> Vec<(u32, u32, Nanos)> {
    std::iter::from_fn(|| match all.next(now, slots) {
        Next::Send(Assignment { connection, messages: 1, .. }) => {
            let user = all.user_on(connection).expect("somebody has it");
            Some((user, connection, all.of(user).blocked.expect("it shares")))
        }
        _ => None,
    })
    .collect()
}

fn over(all: &mut Sessions, slots: &mut Slots, connection: u32, now: Nanos) {
    slots.release(connection, 1);
    let user = all.user_on(connection).expect("somebody has it");
    all.over((connection, user), now, true);
}

#[test]
fn ten_users_take_turns_on_one_connection_and_each_wait_is_told() {
    let (mut all, mut slots) = pool(flow(1), 10, 1, None, Budget::of(20));
    let mut order = Vec::new();
    for now in 0..20 {
        let now = MS(2 * now);
        let served = sent(&mut all, &mut slots, now);
        assert_eq!(served.len(), 1, "one connection has one request in flight");
        let mut waiting = [0];
        all.count_blocked(now + Nanos(1), &mut waiting);
        assert_eq!(waiting, [(20 - order.len() as u64 - 1).min(9)]);
        order.extend(served);
        over(&mut all, &mut slots, 0, now + MS(2));
    }
    let users: Vec<_> = order.iter().map(|(user, ..)| *user).collect();
    assert_eq!(users, (0..10).chain(0..10).collect::<Vec<_>>(), "nobody is passed over");
    assert_eq!((order[0].2, order[1].2, order[9].2), (MS(0), MS(2), MS(18)));
    assert!(order[10..].iter().all(|(.., blocked)| *blocked == MS(18)));
    assert_eq!(all.next(MS(40), &mut slots), Next::Finished);
}

#[test]
fn the_connection_that_was_used_last_is_used_next_and_thinkers_hold_none() {
    let (mut all, mut slots) = pool(flow(2), 4, 3, None, Budget::of(4));
    assert_eq!(sent(&mut all, &mut slots, MS(0)), [(0, 2, MS(0)), (1, 1, MS(0)), (2, 0, MS(0))]);
    over(&mut all, &mut slots, 1, MS(1));
    assert_eq!(sent(&mut all, &mut slots, MS(1)), [(3, 1, MS(1))], "user 1 thinks");
    for connection in [2, 0, 1] {
        over(&mut all, &mut slots, connection, MS(2));
    }
    assert_eq!(all.next(MS(2), &mut slots), Next::Wait(MS(6)));
    // A worker that is late has blocked nobody.
    assert_eq!(sent(&mut all, &mut slots, MS(6)), [(1, 1, MS(0))]);
    over(&mut all, &mut slots, 1, MS(7));
    assert_eq!(sent(&mut all, &mut slots, MS(9)), [(0, 1, MS(0)), (2, 0, MS(0)), (3, 2, MS(0))]);
}

#[test]
fn what_arrives_has_a_user_first_and_then_a_connection() {
    let (mut all, mut slots) = pool(flow(1), 2, 1, Some(1000.0), Budget::of(4));
    assert_eq!(sent(&mut all, &mut slots, MS(0)), [(0, 0, MS(0))]);
    assert_eq!(sent(&mut all, &mut slots, MS(1)), [], "the second has a user");
    assert_eq!((all.waiting(MS(1)), all.waiting(MS(2))), (1, 2));
    assert_eq!(sent(&mut all, &mut slots, MS(2)), [], "the third has none");
    over(&mut all, &mut slots, 0, MS(5));
    assert_eq!(sent(&mut all, &mut slots, MS(5)), [(1, 0, MS(4))]);
    assert_eq!(all.waiting(MS(5)), 2, "one has a user since, and one has none");
    over(&mut all, &mut slots, 0, MS(8));
    // It was due at 2 ms, and got its user at 5 ms: it waited for a user, and then for a connection.
    assert_eq!(sent(&mut all, &mut slots, MS(8)), [(0, 0, MS(3))]);
    assert_eq!(all.of(0).due, MS(2));
}

#[test]
fn a_connection_that_is_lost_is_not_taken_and_comes_back() {
    let (mut all, mut slots) = pool(flow(1), 3, 2, None, Budget::of(3));
    assert_eq!(sent(&mut all, &mut slots, MS(0)).len(), 2);
    // One breaks with its step, which fails; the queue goes on with the other.
    slots.set_available(1, false);
    slots.release(1, 1);
    let user = all.user_on(1).expect("somebody has it");
    assert!(all.over((1, user), MS(1), false).is_some());
    assert_eq!(sent(&mut all, &mut slots, MS(1)), []);
    over(&mut all, &mut slots, 0, MS(2));
    assert_eq!(sent(&mut all, &mut slots, MS(2)), [(2, 0, MS(2))]);
    slots.set_available(1, true);
    assert_eq!(slots.take_latest(), Some(1));
}

#[test]
fn streams_are_taken_from_all_connections_in_turn_and_end_in_any_order() {
    let (all, _) = pool(flow(1), 6, 2, None, Budget::of(6));
    let (mut all, mut slots) = (all.sharing(2, 2), Slots::new(2, 2));
    (0..2).for_each(|connection| slots.set_available(connection, true));
    let taken: Vec<_> =
        sent(&mut all, &mut slots, MS(0)).iter().map(|(user, at, _)| (*user, *at)).collect();
    assert_eq!(taken, [(0, 0), (1, 0), (2, 1), (3, 1)]);
    assert_eq!((all.held(0), all.held(1), all.waiting_steps()), (2, 2, 2));
    assert!(all.over((0, 2), MS(1), true).is_none(), "it is on the other one");
    slots.release(0, 1);
    assert!(all.over((0, 0), MS(1), true).is_some(), "the older one of two");
    assert_eq!((all.user_on(0), all.held(0)), (Some(1), 1));
    assert_eq!(sent(&mut all, &mut slots, MS(1)), [(4, 0, MS(1))]);
}
