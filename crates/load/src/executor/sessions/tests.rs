//! Sessions under a clock of the tests' own.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Part, Session, Sessions};
use crate::clock::Nanos;
use crate::executor::{Assignment, Budget, Next, Slots};
use crate::pacing::{Constant, Course, Pacer};
use crate::plan::traffic::Traffic;
use crate::plan::{Plan, Stage};

const MS: fn(u64) -> Nanos = Nanos::from_millis;

/// Traffic with these flows over one route.
pub(super) fn traffic(flows: &Value, feeds: &Value) -> Arc<Traffic> {
    let plan = json!({
        "schema": "wiretrial-plan", "version": 1, "target": {"url": "http://h"},
        "load": {"connections": 1}, "stop": {"sessions": 1},
        "traffic": {
            "routes": [{"name": "r", "method": "GET", "target": [{"text": "/"}]}],
            "flows": flows, "feeds": feeds,
        },
    });
    Plan::from_json(&plan.to_string()).expect("a plan").traffic.expect("traffic")
}

/// A flow of three steps, 5 ms and then 10 ms of thought before the later ones.
fn three_steps() -> Arc<Traffic> {
    let think = |ms: u64| json!({"kind": "constant", "ns": ms * 1_000_000});
    let step = |ms| json!({"route": 0, "think": think(ms)});
    let steps = json!([{"route": 0}, step(5), step(10)]);
    traffic(&json!([{"name": "f", "steps": steps}]), &json!([]))
}

fn sessions(
    traffic: Arc<Traffic>,
    users: u32,
    rate: Option<f64>,
    budget: Budget,
) -> (Sessions, Slots) {
    staged(traffic, users, rate, None, budget)
}

fn staged(
    traffic: Arc<Traffic>,
    users: u32,
    rate: Option<f64>,
    course: Option<Course>,
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
    part_of(traffic, part, users, rate, course, budget)
}

fn part_of(
    traffic: Arc<Traffic>,
    part: Part,
    users: u32,
    rate: Option<f64>,
    course: Option<Course>,
    budget: Budget,
) -> (Sessions, Slots) {
    let pacer = rate.map(|rate| Pacer::Constant(Constant::new(Nanos::ZERO, rate, 0.0)));
    let mut slots = Slots::by_connection(users, 1);
    (0..users).for_each(|user| slots.set_available(user, true));
    (Sessions::new(traffic, part, users, Nanos::ZERO, pacer, course, budget), slots)
}

/// Who sends now, and when that was due.
fn sent(sessions: &mut Sessions, slots: &mut Slots, now: Nanos) -> Vec<(u32, Nanos)> {
    std::iter::from_fn(|| match sessions.next(now, slots) {
        Next::Send(Assignment { connection, messages: 1, due }) => Some((connection, due)),
        _ => None,
    })
    .collect()
}

fn over(
    sessions: &mut Sessions,
    slots: &mut Slots,
    user: u32,
    now: Nanos,
    well: bool,
) -> Option<Session> {
    slots.release(user, 1);
    sessions.over((user, user), now, well)
}

#[test]
fn each_step_is_due_when_the_one_before_has_ended_and_its_user_has_thought() {
    let (mut all, mut slots) = sessions(three_steps(), 1, None, Budget::of(2));
    assert_eq!(sent(&mut all, &mut slots, MS(0)), [(0, MS(0))]);
    assert_eq!(all.next(MS(1), &mut slots), Next::Blocked);
    assert_eq!(over(&mut all, &mut slots, 0, MS(3), true), None);
    assert_eq!(all.next(MS(7), &mut slots), Next::Wait(MS(8)));
    assert_eq!(sent(&mut all, &mut slots, MS(9)), [(0, MS(8))], "due when it was");
    assert_eq!(over(&mut all, &mut slots, 0, MS(10), true), None);
    assert_eq!(sent(&mut all, &mut slots, MS(20)), [(0, MS(20))]);
    let ended = over(&mut all, &mut slots, 0, MS(21), true).expect("its last step");
    assert_eq!((ended.due, ended.number), (MS(0), 0));
    // The next session begins at once, and ends with the step that fails.
    assert_eq!(sent(&mut all, &mut slots, MS(21)), [(0, MS(21))]);
    let ended = over(&mut all, &mut slots, 0, MS(22), false).expect("it has failed");
    assert_eq!((ended.due, ended.step, ended.number), (MS(21), 0, 1));
    assert_eq!(all.next(MS(22), &mut slots), Next::Finished, "two are all");
}

#[test]
fn arrivals_wait_for_a_free_user_and_stay_due() {
    let flow = traffic(&json!([{"name": "f", "steps": [{"route": 0}]}]), &json!([]));
    let (mut all, mut slots) = sessions(flow, 2, Some(100.0), Budget::of(5));
    assert_eq!(sent(&mut all, &mut slots, MS(25)), [(0, MS(0)), (1, MS(10))]);
    assert_eq!((all.waiting(MS(25)), all.waiting(MS(35))), (1, 2));
    over(&mut all, &mut slots, 1, MS(36), true).expect("it has one step");
    assert_eq!(sent(&mut all, &mut slots, MS(36)), [(1, MS(20))]);
    assert_eq!((all.waiting(MS(39)), all.waiting(MS(1000))), (1, 2), "five are all");
    assert_eq!(all.peek(MS(29)), Next::Wait(MS(30)));
    assert_eq!(all.peek(MS(39)), Next::Blocked);
    over(&mut all, &mut slots, 0, MS(41), false).expect("it has one step");
    over(&mut all, &mut slots, 1, MS(41), true).expect("it has one step");
    assert_eq!(sent(&mut all, &mut slots, MS(41)), [(0, MS(30)), (1, MS(40))]);
    over(&mut all, &mut slots, 0, MS(42), true).expect("it has one step");
    assert_eq!(all.next(MS(42), &mut slots), Next::Blocked);
    over(&mut all, &mut slots, 1, MS(42), true).expect("it has one step");
    assert_eq!(all.next(MS(42), &mut slots), Next::Finished);
}

#[test]
fn a_user_whose_connection_is_lost_keeps_its_session_and_takes_no_new_one() {
    let (mut all, mut slots) = sessions(three_steps(), 2, Some(1000.0), Budget::UNLIMITED);
    slots.set_available(0, false);
    assert_eq!(sent(&mut all, &mut slots, MS(0)), [(1, MS(0))]);
    assert_eq!(all.waiting(MS(3)), 3, "one who has no connection begins none");
    over(&mut all, &mut slots, 1, MS(1), true);
    slots.set_available(1, false);
    assert_eq!(sent(&mut all, &mut slots, MS(7)), []);
    slots.set_available(1, true);
    slots.set_available(0, true);
    assert_eq!(sent(&mut all, &mut slots, MS(8)), [(1, MS(6)), (0, MS(1))]);
}

#[test]
fn what_finds_no_row_fails_without_a_user() {
    let feeds =
        json!([{"name": "f", "columns": ["c"], "rows": [["a"], ["b"], ["c"]], "order": "unique"}]);
    let flow = traffic(&json!([{"name": "f", "feed": "f", "steps": [{"route": 0}]}]), &feeds);
    let (mut all, mut slots) = sessions(Arc::clone(&flow), 9, Some(1000.0), Budget::of(4));
    assert_eq!(sent(&mut all, &mut slots, MS(9)), [(0, MS(0)), (1, MS(1))]);
    assert_eq!((all.of(0).row, all.of(1).row, all.take_starved(0)), (Some(0), Some(1), 2));
    assert_eq!((all.take_starved(0), all.waiting(MS(9))), (0, 0));
    let (mut all, mut slots) = sessions(flow, 2, None, Budget::UNLIMITED);
    for _ in 0..5 {
        assert_eq!(sent(&mut all, &mut slots, MS(9)).len(), 2);
        assert_eq!((all.of(0).row, all.of(1).row), (Some(0), Some(1)), "each keeps its own");
        (0..2).for_each(|user| assert!(over(&mut all, &mut slots, user, MS(9), true).is_some()));
    }
}

#[test]
fn users_come_and_go_as_the_stages_say() {
    let flow = traffic(&json!([{"name": "f", "steps": [{"route": 0}]}]), &json!([]));
    let stage = |ms, from, to| Stage { time: MS(ms), from, to };
    let stages = [stage(100, 0.0, 1.0), stage(100, 1.0, 1.0), stage(100, 1.0, 0.0)];
    let course = Some(Course::new(Nanos::ZERO, &stages));
    let (mut all, mut slots) = staged(flow, 10, None, course, Budget::UNLIMITED);
    let mut active = Vec::new();
    for now in 0..40 {
        let now = MS(now * 10);
        let sent = sent(&mut all, &mut slots, now);
        active.push(sent.len());
        // All are answered at once, and begin again when they are asked the next time.
        for (user, _) in sent {
            assert!(over(&mut all, &mut slots, user, now, true).is_some());
        }
    }
    assert_eq!(active[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10], "they come");
    assert!(active[12..21].iter().all(|count| *count == 10), "{active:?}");
    assert!(active[20..31].is_sorted_by(|a, b| a >= b) && active[25] <= 6, "they go: {active:?}");
    assert!(active[31..].iter().all(|count| *count == 0), "{active:?}");
    assert_eq!(all.next(MS(400), &mut slots), Next::Blocked);
}

/// Whatever replies do, no session is lost, and none is had twice.
#[test]
fn sessions_begin_end_or_are_there() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let users = rng.u32(1..5);
        let rate = rng.bool().then_some(500.0);
        let budget = rng.u64(1..200);
        let (mut all, mut slots) = sessions(three_steps(), users, rate, Budget::of(budget));
        let (mut out, mut begun, mut ended, mut now) = (Vec::new(), 0_u64, 0_u64, Nanos::ZERO);
        loop {
            match all.next(now, &mut slots) {
                Next::Send(Assignment { connection, due, .. }) => {
                    assert!(due <= now && !out.contains(&connection));
                    begun += u64::from(all.of(connection).step == 0);
                    out.push(connection);
                }
                Next::Finished => break,
                Next::Wait(due) if out.is_empty() => now = due.max(now),
                Next::Wait(_) | Next::Blocked => {
                    if !out.is_empty() {
                        let user = out.swap_remove(rng.usize(..out.len()));
                        now += MS(rng.u64(..3));
                        let it = over(&mut all, &mut slots, user, now, rng.u8(..10) > 0);
                        ended += u64::from(it.is_some());
                    }
                    let user = rng.u32(..users);
                    slots.set_available(user, false);
                    slots.set_available(user, true);
                }
            }
        }
        assert_eq!((begun, ended, out.len()), (budget, budget, 0), "seed {seed}");
    }
}

#[test]
fn users_may_take_turns() {
    let part = Part {
        seed: 1,
        place: 0,
        workers: 1,
        first_session: 7,
        apart: 1,
        first_user: 0,
        keeps_rows: false,
        rehearsed: 1,
        in_turn: true,
    };
    let (mut sessions, mut slots) = part_of(three_steps(), part, 2, None, None, Budget::of(3));
    for (number, user) in [(7, 0), (8, 1), (9, 0)] {
        for step in 0..3 {
            let now = MS(number * 100 + step * 20);
            let [(of, _)] = sent(&mut sessions, &mut slots, now)[..] else { panic!("one alone") };
            assert_eq!((of, sessions.of(user).number), (user, number));
            over(&mut sessions, &mut slots, user, now, true);
        }
    }
    assert_eq!(sessions.next(MS(2000), &mut slots), Next::Finished);
}
