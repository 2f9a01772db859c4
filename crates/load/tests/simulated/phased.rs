//! Each connection at its own phase: what one waits for is no concern of the others.

use wiretrial_load::clock::Nanos;
use wiretrial_load::executor::{Budget, Executor, Next, Phased, Slots};
use wiretrial_load::measure::Metric;
use wiretrial_load::pacing::Constant;
use wiretrial_load::plan::Overflow;

use crate::world::{MS, SECOND, Server, World};

/// Four bots, one message a second each.
fn bots(budget: Budget, overflow: Overflow) -> Executor {
    let pacer = Constant::new(Nanos::ZERO, 4.0, 0.0);
    Executor::Phased(Phased::new(pacer, 4, 1, budget, overflow))
}

#[test]
fn every_connection_sends_at_its_own_phase() {
    let quick = Server::new(MS, 0..0, false);
    let mut world = World::new(bots(Budget::UNLIMITED, Overflow::Wait), true, 4, 1, quick);
    world.run_until(3 * SECOND);
    let expected: Vec<_> = (0..12).map(|n| ((n % 4) as u32, n * SECOND / 4)).collect();
    assert_eq!(world.sends, expected);
    assert!(world.timelines.iter().all(|timeline| timeline.response_time().0 == MS));
}

#[test]
fn a_slow_reply_delays_its_own_connection_alone() {
    // Only what is sent in the first tenth of a second waits: the first message of connection 0.
    let stuck = Server::new(MS, 0..2 * SECOND + SECOND / 10, false);
    let mut world = World::new(bots(Budget::UNLIMITED, Overflow::Wait), true, 4, 1, stuck);
    world.run_until(2 * SECOND + SECOND / 20);
    assert_eq!(world.sends, [(0, 0), (1, SECOND / 4), (2, SECOND / 2), (3, 3 * SECOND / 4)]);
    assert_eq!(world.executor.waiting(Nanos(2 * SECOND + SECOND / 20)), 5);
    world.run_until(4 * SECOND);
    // When the server thaws, each sends what it owes, in the order of its own instants.
    let of = |connection: u32| -> Vec<u64> {
        let mine = world.sends.iter().filter(|(other, _)| *other == connection);
        mine.map(|(_, due)| *due).collect()
    };
    for connection in 0..4 {
        let phase = u64::from(connection) * SECOND / 4;
        let expected: Vec<_> = (0..4).map(|second| second * SECOND + phase).collect();
        assert_eq!(of(connection), expected, "connection {connection}");
    }
    let times = world.recorder.histogram(Metric::ResponseTime).expect("recorded");
    assert!(times.equivalent(times.max(), 2 * SECOND + SECOND / 10 + MS));
}

#[test]
fn more_slots_let_a_connection_go_on() {
    let stuck = Server::new(MS, 0..3 * SECOND, false);
    let mut world = World::new(bots(Budget::UNLIMITED, Overflow::Wait), true, 4, 2, stuck);
    world.run_until(5 * SECOND / 2);
    assert_eq!(world.sends.len(), 8);
    assert_eq!(world.executor.waiting(Nanos(5 * SECOND / 2)), 3, "0 and 1 a third time, 2 is due");
}

#[test]
fn what_finds_no_slot_is_dropped_where_the_plan_says_so() {
    let stuck = Server::new(MS, 0..2 * SECOND + SECOND / 10, false);
    let mut world = World::new(bots(Budget::UNLIMITED, Overflow::Drop), true, 4, 1, stuck);
    world.run_until(4 * SECOND);
    assert_eq!(world.executor.dropped(), 5, "at 1.0 .. 2.0 s");
    assert_eq!(world.recorder.sent + world.executor.dropped(), 16);
}

#[test]
fn a_budget_ends_it_and_lost_connections_wait() {
    let quick = Server::new(MS, 0..0, false);
    let mut world = World::new(bots(Budget::of(6), Overflow::Wait), true, 4, 1, quick);
    world.run_until(9 * SECOND);
    assert_eq!((world.sends.len(), world.executor.waiting(Nanos(9 * SECOND))), (6, 0));

    let mut executor = bots(Budget::UNLIMITED, Overflow::Wait);
    let mut slots = Slots::by_connection(4, 1);
    assert_eq!(executor.next(Nanos(SECOND / 2), &mut slots), Next::Wait(Nanos(3 * SECOND / 4)));
    assert_eq!(executor.waiting(Nanos(SECOND / 2)), 3);
    slots.set_available(1, true);
    let Next::Send(assignment) = executor.next(Nanos(SECOND / 2), &mut slots) else {
        panic!("connection 1 can send");
    };
    assert_eq!((assignment.connection, assignment.due), (1, Nanos(SECOND / 4)));
    assert_eq!(executor.next(Nanos(SECOND / 2), &mut slots), Next::Wait(Nanos(3 * SECOND / 4)));
    assert_eq!(executor.waiting(Nanos(SECOND / 2)), 2);
}
