//! The next message so long after the response: the rate is N / (pause + reply time), exactly.

use wiretrial_load::clock::Nanos;
use wiretrial_load::executor::{AfterResponse, Budget, Executor};

use crate::world::{MS, SECOND, Server, World};

fn world(connections: u32, depth: u32, pause: u64, service: u64) -> World {
    let slots = u64::from(connections * depth);
    let executor = AfterResponse::new(Nanos::ZERO, Nanos(pause), slots, 1, Budget::UNLIMITED);
    let server = Server::new(service, 0..0, false);
    World::new(Executor::AfterResponse(executor), false, connections, depth, server)
}

#[test]
fn connections_begin_at_phases_of_their_own() {
    let mut world = world(4, 1, SECOND, MS);
    world.run_until(SECOND);
    let phases: Vec<_> = (0..4).map(|n| (n as u32, n * SECOND / 4)).collect();
    assert_eq!(world.sends, phases);
    world.run_until(SECOND + SECOND / 2);
    assert_eq!(world.sends[4..], [(0, SECOND + MS), (1, SECOND + MS + SECOND / 4)]);
}

#[test]
fn the_rate_falls_as_replies_take_longer() {
    for (service, expected) in [(MS, 99), (100 * MS, 90), (SECOND, 50)] {
        let mut world = world(10, 1, SECOND, service);
        world.run_until(10 * SECOND);
        // Ten connections over 10 s: 100 / (1 + reply time in seconds), rounded up by what each began.
        let sent = world.recorder.sent;
        assert!((expected..expected + 10).contains(&sent), "{service} ns: {sent}");
    }
}

#[test]
fn each_slot_rests_for_itself() {
    let mut world = world(1, 4, SECOND, 10 * MS);
    world.run_until(SECOND);
    assert_eq!(world.sends, [(0, 0), (0, SECOND / 4), (0, SECOND / 2), (0, 3 * SECOND / 4)]);
}
