//! What is due was assigned, waits, or was dropped: at every instant, whatever the server does.

use wiretrial_load::clock::{Clock as _, Nanos};
use wiretrial_load::executor::{AfterResponse, Budget, Executor, Next, Open, Phased, Slots};
use wiretrial_load::pacing::{Constant, Pacer, Poisson};
use wiretrial_load::plan::Overflow;

use crate::world::{MS, SECOND, Server, World};

const RATE: f64 = 400.0;

/// So many messages, packs of equal ones, were due at this instant; of a budget, as many as it has.
fn due_at(mut pacer: Pacer, now: u64, pack: u32, budget: Option<u64>) -> u64 {
    let mut due = 0;
    while pacer.due().0 <= now {
        pacer.advance();
        due += u64::from(pack);
    }
    budget.map_or(due, |budget| due.min(budget))
}

#[test]
fn what_is_due_was_assigned_waits_or_was_dropped() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let connections = rng.u32(1..6);
        let pack = [1, 1, 3][rng.usize(..3)];
        let depth = rng.u32(1..4);
        let budget = rng.bool().then(|| rng.u64(1..2000));
        let allowed = budget.map_or(Budget::UNLIMITED, Budget::of);
        let overflow = if rng.bool() { Overflow::Wait } else { Overflow::Drop };
        let constant = Constant::new(Nanos(rng.u64(..SECOND)), RATE, rng.f64());
        let (executor, pacer) = if rng.bool() {
            let executor = Phased::new(constant.clone(), connections, pack, allowed, overflow);
            (Executor::Phased(executor), Pacer::Constant(constant))
        } else {
            let poisson = Pacer::Poisson(Poisson::new(Nanos::ZERO, RATE, seed));
            let pacer = if rng.bool() { Pacer::Constant(constant) } else { poisson };
            (Executor::Open(Open::new(pacer.clone(), pack, allowed, overflow)), pacer)
        };
        let frozen = rng.u64(..2 * SECOND);
        let server = Server::new(rng.u64(1..30 * MS), frozen..frozen + SECOND, rng.bool());
        let mut world = World::new(executor, true, connections, depth, server);
        let mut now = 0;
        while now < 4 * SECOND {
            now += rng.u64(1..200 * MS);
            world.run_until(now);
            // It has sent all that fell due before, and was not asked at this very instant.
            let last = world.clock.now() - Nanos(1);
            let waiting = world.executor.waiting(last);
            let found = world.recorder.sent + waiting + world.executor.dropped();
            let due = due_at(pacer.clone(), last.0, pack, budget);
            let (sent, dropped) = (world.recorder.sent, world.executor.dropped());
            assert_eq!(found, due, "seed {seed} at {now}: {sent} + {waiting} + {dropped}");
        }
    }
}

#[test]
fn nobody_is_woken_for_messages_beyond_the_budget() {
    let pacer = Constant::new(Nanos::ZERO, RATE, 0.0);
    let phased = Phased::new(pacer.clone(), 4, 1, Budget::of(2), Overflow::Wait);
    let open = Open::new(Pacer::Constant(pacer), 1, Budget::of(2), Overflow::Wait);
    let pause = Nanos(SECOND);
    let after_response = AfterResponse::new(Nanos::ZERO, pause, 4, 1, Budget::of(2));
    for mut executor in
        [Executor::Phased(phased), Executor::Open(open), Executor::AfterResponse(after_response)]
    {
        let mut slots = match executor {
            Executor::Phased(_) => Slots::by_connection(4, 1),
            _ => Slots::new(4, 1),
        };
        for connection in 0..4 {
            slots.set_available(connection, true);
        }
        let now = Nanos(10 * SECOND);
        while matches!(executor.next(now, &mut slots), Next::Send(_)) {}
        assert_eq!(executor.next(now, &mut slots), Next::Finished);
        let wakes = matches!(executor.peek(now), Next::Wait(due) if due <= now);
        assert!(!wakes, "{executor:?}: an instant that has passed wakes for ever");
    }
}
