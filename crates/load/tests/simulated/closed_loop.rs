use wiretrial_load::executor::{Budget, Closed, Executor};
use wiretrial_load::measure::Metric;

use crate::world::{MS, SECOND, Server, World};

fn closed(connections: u32, depth: u32, server: Server) -> World {
    let executor = Executor::Closed(Closed::new(1, Budget::UNLIMITED));
    World::new(executor, false, connections, depth, server)
}

#[test]
fn a_stall_is_one_slow_exchange_per_slot_and_shows_as_blocked_time() {
    for (connections, depth) in [(1, 1), (10, 1), (4, 3)] {
        let server = Server::new(MS, 5 * SECOND..6 * SECOND, false);
        let mut world = closed(connections, depth, server);
        world.run_until(10 * SECOND);
        let slots = u64::from(connections * depth);

        // Nine of ten seconds at one exchange per millisecond and slot; nothing is back-filled.
        let counters = world.recorder.counters(world.in_flight(), 0, 0);
        assert_eq!(counters.ok, 8_999 * slots);
        assert_eq!(counters.sent, counters.ok + counters.in_flight);
        let slow = world.timelines.iter().filter(|t| t.service_time().0 > 10 * MS);
        let slow: Vec<u64> = slow.map(|t| t.service_time().0).collect();
        assert_eq!(slow, vec![SECOND + MS; slots as usize]);

        let blocked = world.recorder.blocked();
        assert_eq!((blocked.exchanges, blocked.threshold_ns / MS), (slots, 10));
        let times = world.recorder.histogram(Metric::ServiceTime).expect("recorded");
        let expected = slots * times.highest_equivalent(SECOND + MS);
        assert_eq!(blocked.slot_ns, expected, "to the histogram's own resolution");

        // The quantiles of a closed loop don't see it: that is why it must be told apart.
        assert!(times.equivalent(times.value_at_quantile(0.99), MS));
        assert!(world.recorder.histogram(Metric::ResponseTime).is_none());
    }
}

#[test]
fn without_a_stall_nothing_is_blocked() {
    let mut world = closed(5, 2, Server::new(MS, u64::MAX - 1..u64::MAX, false));
    world.run_until(SECOND);
    assert_eq!(world.recorder.blocked().exchanges, 0);
}

#[test]
fn a_budget_is_spent_to_the_last_message_and_no_further() {
    let executor = Executor::Closed(Closed::new(4, Budget::of(10)));
    let mut world = World::new(executor, false, 3, 1, Server::new(MS, 0..0, false));
    world.run_until(SECOND);
    // Packs of 4, 4 and 2.
    assert_eq!((world.recorder.sent, world.timelines.len()), (10, 3));
}
