use wiretrial_load::clock::Nanos;
use wiretrial_load::executor::{Budget, Executor, Next, Open, Slots};
use wiretrial_load::measure::Metric;
use wiretrial_load::pacing::{Constant, Pacer, Poisson};
use wiretrial_load::plan::Overflow;

use crate::world::{MS, SECOND, Server, World};

const RATE: f64 = 1000.0;

fn open(pacer: Pacer, overflow: Overflow) -> Executor {
    Executor::Open(Open::new(pacer, 1, Budget::UNLIMITED, overflow))
}

fn constant() -> Pacer {
    Pacer::Constant(Constant::new(Nanos::ZERO, RATE, 0.0))
}

/// What each message due at a whole millisecond must take, computed without the executor.
fn expected_response_times(server: &mut Server, until: u64) -> Vec<u64> {
    let due = (0..until).step_by(MS as usize);
    due.map(|due| server.answer(due) - due).collect()
}

fn stalling() -> Server {
    Server::new(MS / 2, 5 * SECOND..6 * SECOND, true)
}

#[test]
fn a_stall_shows_in_full_in_the_response_time() {
    for slots in [10_000, 1] {
        let mut world = World::new(open(constant(), Overflow::Wait), true, slots, 1, stalling());
        world.run_until(10 * SECOND);

        let expected = expected_response_times(&mut stalling(), 10 * SECOND);
        let mut found: Vec<u64> =
            world.timelines.iter().map(|timeline| timeline.response_time().0).collect();
        found.sort_unstable();
        let mut wanted = expected;
        wanted.sort_unstable();
        assert_eq!(
            found, wanted,
            "{slots} slots: each message pays what it waited, wherever it waited"
        );

        let times = world.recorder.histogram(Metric::ResponseTime).expect("recorded");
        assert!(times.equivalent(times.max(), SECOND + MS / 2));
        assert!(times.value_at_quantile(0.99) > 900 * MS);
        assert!(times.equivalent(times.value_at_quantile(0.5), MS / 2));
    }
}

#[test]
fn with_one_slot_the_wait_is_pacing_lag_and_not_service_time() {
    let mut world = World::new(open(constant(), Overflow::Wait), true, 1, 1, stalling());
    world.run_until(10 * SECOND);
    let lag = world.recorder.histogram(Metric::PacingLag).expect("recorded");
    assert!(lag.value_at_quantile(0.99) > 900 * MS);
    let slow = world.timelines.iter().filter(|t| t.service_time().0 > MS).count();
    assert_eq!(slow, 1, "only the message that was being served paid the freeze as service time");
    for timeline in &world.timelines {
        let sum = timeline.pacing_lag() + timeline.service_time();
        assert_eq!(timeline.response_time(), sum);
    }
}

#[test]
fn what_waits_is_counted_while_it_waits() {
    let mut world = World::new(open(constant(), Overflow::Wait), true, 1, 1, stalling());
    world.run_until(5 * SECOND + 500 * MS);
    // Due at 5.000 s and on its way since; due at 5.001 .. 5.500 s and waiting.
    assert_eq!(world.executor.waiting(Nanos(5 * SECOND + 500 * MS)), 500);
    assert_eq!(world.in_flight(), 1);
}

#[test]
fn what_overflows_is_dropped_and_counted() {
    let mut world = World::new(open(constant(), Overflow::Drop), true, 1, 1, stalling());
    world.run_until(10 * SECOND);
    // Due at 5.001 .. 6.000 s: the slot is free again at 6.0005 s.
    assert_eq!(world.executor.dropped(), 1000);
    assert_eq!(world.recorder.sent, 9000);
    let times = world.recorder.histogram(Metric::PacingLag).expect("recorded");
    assert_eq!(times.max(), 0, "nobody waited");
}

#[test]
fn due_instants_do_not_depend_on_replies() {
    let pacers: [fn() -> Pacer; 2] =
        [constant, || Pacer::Poisson(Poisson::new(Nanos::ZERO, RATE, 42))];
    for pacer in pacers {
        let dues = |server: Server| {
            let mut world = World::new(open(pacer(), Overflow::Wait), true, 3, 1, server);
            world.run_until(2 * SECOND);
            let mut dues: Vec<u64> = world.timelines.iter().map(|t| t.due.0).collect();
            dues.sort_unstable();
            dues
        };
        let quick = dues(Server::new(1, 0..0, false));
        let slow = dues(Server::new(MS, SECOND / 2..SECOND, false));
        assert!(slow.len() > 1500, "{}", slow.len());
        assert_eq!(slow, quick[..slow.len()]);
    }
}

#[test]
fn a_late_caller_gets_every_instant_that_has_passed() {
    let mut executor = open(constant(), Overflow::Wait);
    let mut slots = Slots::new(10, 1);
    for connection in 0..10 {
        slots.set_available(connection, true);
    }
    let mut dues = Vec::new();
    while let Next::Send(assignment) = executor.next(Nanos(3 * MS), &mut slots) {
        dues.push(assignment.due.0);
    }
    assert_eq!(dues, [0, MS, 2 * MS, 3 * MS]);
    assert_eq!(executor.next(Nanos(3 * MS), &mut slots), Next::Wait(Nanos(4 * MS)));
}
