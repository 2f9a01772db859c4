//! Bursts: the slowest reply of a burst decides when the next one goes.

use wiretrial_load::executor::{Budget, Executor, RandomBurst};
use wiretrial_load::measure::Metric;

use crate::world::{MS, SECOND, Server, World};

fn bursts(connections: u32, pack: u32, budget: Budget, server: Server) -> World {
    let executor = Executor::RandomBurst(RandomBurst::new(connections, pack, budget, 7));
    World::new(executor, false, connections, 1, server)
}

#[test]
fn the_next_burst_goes_when_the_last_reply_is_there() {
    let mut world = bursts(10, 1, Budget::UNLIMITED, Server::new(MS, 0..0, true));
    world.run_until(35 * MS);
    // One queue and a millisecond for each message: a burst of ten takes ten.
    let dues: Vec<u64> = world.sends.iter().map(|(_, due)| *due).collect();
    let expected: Vec<u64> = (0..4).flat_map(|burst| [burst * 10 * MS; 10]).collect();
    assert_eq!(dues, expected);
    let longest = world.timelines.iter().map(|timeline| timeline.service_time().0).max();
    assert_eq!(longest, Some(10 * MS));
    assert_eq!(world.in_flight(), 6);
}

#[test]
fn a_stall_is_paid_by_one_burst_and_shows_as_blocked_time() {
    let server = Server::new(MS, 5 * SECOND..6 * SECOND, false);
    let mut world = bursts(5, 1, Budget::UNLIMITED, server);
    world.run_until(10 * SECOND);
    // Nine of ten seconds at one burst per millisecond; nothing is back-filled.
    let counters = world.recorder.counters(world.in_flight(), 0, 0);
    assert_eq!((counters.ok, counters.in_flight), (8_999 * 5, 5));
    assert_eq!(counters.sent, counters.ok + counters.in_flight);
    let blocked = world.recorder.blocked();
    assert_eq!((blocked.exchanges, blocked.threshold_ns / MS), (5, 10));
    assert!(world.recorder.histogram(Metric::ResponseTime).is_none());
}

#[test]
fn connections_are_drawn_and_most_bursts_leave_some_out() {
    let mut world = bursts(100, 1, Budget::of(10_000), Server::new(MS, 0..0, false));
    world.run_until(SECOND);
    assert_eq!(world.recorder.sent, 10_000);
    let mut counts = [0_u32; 100];
    for (connection, _) in &world.sends {
        counts[*connection as usize] += 1;
    }
    // A hundred draws each, standard deviation 10; all with the same chance.
    assert!(counts.iter().all(|count| (50..160).contains(count)), "{counts:?}");
    let mut first: Vec<u32> =
        world.sends[..100].iter().map(|(connection, _)| *connection).collect();
    first.sort_unstable();
    first.dedup();
    assert!((40..90).contains(&first.len()), "{}", first.len());
}

#[test]
fn a_budget_is_spent_to_the_last_message_and_no_further() {
    let mut world = bursts(3, 4, Budget::of(10), Server::new(MS, 0..0, false));
    world.run_until(SECOND);
    // Packs of 4, 4 and 2.
    assert_eq!((world.recorder.sent, world.timelines.len()), (10, 3));
}
