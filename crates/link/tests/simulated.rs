//! Paths and lines under a simulated clock: exact tables first, then what must hold for any.

use proptest::prelude::*;
use wiretrial_link::{Fate, Line, Path, Shape};

const MS: u64 = 1_000_000;

fn shape(text: &str) -> Shape {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Sends `packets` ({instant, bytes}) along a path; what becomes of each.
fn fates(text: &str, seed: u64, packets: &[(u64, usize)]) -> Vec<Fate> {
    let mut path = Path::new(shape(text), seed);
    packets.iter().map(|&(at_ns, bytes)| path.admit(at_ns, bytes)).collect()
}

fn arrivals(fates: &[Fate]) -> Vec<Option<u64>> {
    fates
        .iter()
        .map(|fate| match fate {
            Fate::Arrives { at_ns, .. } => Some(*at_ns),
            _ => None,
        })
        .collect()
}

fn lost(text: &str, seed: u64, packets: usize) -> Vec<bool> {
    let mut path = Path::new(shape(text), seed);
    (0..packets).map(|at| path.admit(at as u64, 100) == Fate::Lost).collect()
}

#[test]
fn a_bare_wire_adds_nothing_and_a_delay_is_exact() {
    let packets = [(0, 100), (5, 1500), (5, 40), (90, 100)];
    assert_eq!(arrivals(&fates("", 0, &packets)), [Some(0), Some(5), Some(5), Some(90)]);
    let later = [Some(26 * MS), Some(26 * MS + 5), Some(26 * MS + 5), Some(26 * MS + 90)];
    assert_eq!(arrivals(&fates("delay=26ms", 0, &packets)), later);
}

#[test]
fn a_rate_sends_one_after_the_other() {
    // 8 Mbit/s is a byte per microsecond.
    let packets = [(0, 1000), (0, 500), (200_000, 100), (5 * MS, 1000)];
    assert_eq!(
        arrivals(&fates("rate=8mbit,delay=10ms", 0, &packets)),
        [Some(11 * MS), Some(11 * MS + 500_000), Some(11 * MS + 600_000), Some(16 * MS)]
    );
}

#[test]
fn a_rate_loses_no_fraction_of_a_nanosecond() {
    // 3 Gbit/s: 100 bytes take 266 2/3 ns.
    let packets = vec![(0, 100); 3000];
    let last = arrivals(&fates("rate=3gbit,queue=1s", 0, &packets)).pop().flatten();
    assert_eq!(last, Some(800_000));
}

#[test]
fn a_full_queue_drops_what_comes_last() {
    let full = |text| -> Vec<bool> {
        let packets = [(0, 1000), (0, 1000), (0, 1000), (999_999, 1000), (MS, 1000), (MS, 1000)];
        fates(text, 0, &packets).iter().map(|fate| *fate == Fate::QueueFull).collect()
    };
    // The first packet has left after exactly a millisecond, and makes room then.
    let expected = [false, false, true, true, false, true];
    assert_eq!(full("rate=8mbit,queue=2p"), expected);
    assert_eq!(full("rate=8mbit,queue=2000B"), expected);
    assert_eq!(full("rate=8mbit,queue=2999B"), expected);
    assert_eq!(full("rate=8mbit,queue=3000B"), [false, false, false, true, false, true]);
}

#[test]
fn an_empty_queue_takes_any_packet() {
    let found = fates("rate=8mbit,queue=100B", 0, &[(0, 1500), (1, 40), (2 * MS, 1500)]);
    assert_eq!(arrivals(&found), [Some(1_500_000), None, Some(3_500_000)]);
}

#[test]
fn packets_over_the_mtu_are_dropped() {
    let found = fates("mtu=1400", 0, &[(0, 1400), (1, 1401)]);
    assert_eq!(found, [Fate::Arrives { at_ns: 0, twice: false }, Fate::TooBig]);
}

#[test]
fn shares_of_nothing_and_of_all_are_exact() {
    assert!(lost("loss=0%", 1, 1000).iter().all(|lost| !lost));
    assert!(lost("loss=100%", 1, 1000).iter().all(|lost| *lost));
    let found = fates("duplicate=100%", 1, &[(0, 1), (1, 1)]);
    assert!(found.iter().all(|fate| matches!(fate, Fate::Arrives { twice: true, .. })));
}

#[test]
fn independent_losses_have_their_share() {
    const SENT: usize = 200_000;
    let count = lost("loss=1%", 11, SENT).iter().filter(|lost| **lost).count();
    // Five standard deviations of a binomial around 2000.
    assert!((1777..=2223).contains(&count), "{count}");
}

#[test]
fn bursts_have_their_share_and_their_length() {
    const SENT: usize = 400_000;
    let found = lost("loss=2%/5", 12, SENT);
    let count = found.iter().filter(|lost| **lost).count();
    let bursts = found.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    let (share, length) = (count as f64 / SENT as f64, count as f64 / bursts as f64);
    assert!((0.018..0.022).contains(&share), "{share}");
    assert!((4.5..5.5).contains(&length), "{length}");
}

#[test]
fn the_choice_of_lost_packets_is_moved_by_nothing_but_the_seed() {
    let plain = lost("loss=5%", 3, 5000);
    let dark = lost("loss=5%,blackhole=2us/1us", 3, 5000);
    assert!(plain.iter().zip(&dark).all(|(plain, dark)| !plain || *dark));
    assert_eq!(plain, lost("delay=9ms,jitter=3ms/normal,reorder=5%,duplicate=5%,loss=5%", 3, 5000));
    assert_ne!(plain, lost("loss=5%", 4, 5000));
}

#[test]
fn jitter_has_its_mean_and_never_shortens_the_delay() {
    const SENT: u64 = 100_000;
    for (distribution, tolerance) in [("uniform", 0.01), ("normal", 0.01), ("pareto", 0.05)] {
        let mut path = Path::new(shape(&format!("delay=10ms,jitter=2ms/{distribution}")), 5);
        let mut sum = 0;
        // A second apart, so that no packet waits for the one before.
        for sent_ns in (0..SENT).map(|at| at * 1_000 * MS) {
            let Fate::Arrives { at_ns, .. } = path.admit(sent_ns, 100) else {
                panic!("nothing is lost here");
            };
            let taken = at_ns - sent_ns;
            assert!((10 * MS..=110 * MS).contains(&taken), "{distribution}: {taken}");
            sum += taken - 10 * MS;
        }
        let mean_ms = sum as f64 / SENT as f64 / MS as f64;
        assert!((mean_ms - 2.0).abs() < 2.0 * tolerance, "{distribution}: {mean_ms}");
    }
}

#[test]
fn jitter_keeps_near_its_mean_where_packets_are_close_together() {
    for distribution in ["uniform", "normal", "pareto"] {
        let mut path = Path::new(shape(&format!("jitter=2ms/{distribution}")), 6);
        let (sent, mut sum) = (1_000_000, 0);
        for sent_ns in (0..sent).map(|at| at * MS / 10) {
            let Fate::Arrives { at_ns, .. } = path.admit(sent_ns, 100) else {
                panic!("nothing is lost here");
            };
            sum += at_ns - sent_ns;
        }
        let mean_ms = sum as f64 / sent as f64 / MS as f64;
        assert!((1.9..2.8).contains(&mean_ms), "{distribution}: {mean_ms}");
    }
}

#[test]
fn a_blackhole_takes_the_last_part_of_each_period_counted_from_the_first_packet() {
    // A packet each second from the third second on: of each ten the last two.
    let mut path = Path::new(shape("blackhole=10s/2s,delay=50ms"), 7);
    let gone: Vec<u64> = (3..33)
        .filter(|at| path.admit(at * 1_000 * MS, 100) == Fate::Lost)
        .map(|at| at - 3)
        .collect();
    assert_eq!(gone, [8, 9, 18, 19, 28, 29]);
    let counters = path.counters();
    assert_eq!((counters.blackholed, counters.lost), (6, 0));
}

#[test]
fn what_is_held_back_is_overtaken_by_those_behind_and_by_no_more() {
    let packets: Vec<(u64, usize)> = (0..10_000).map(|at| (at * MS, 100)).collect();
    let found = arrivals(&fates("delay=5ms,reorder=10%/2500us", 7, &packets));
    let mut held = 0;
    for (arrival, (sent_ns, _)) in found.iter().zip(&packets) {
        let taken = arrival.expect("nothing is lost here") - sent_ns;
        assert!(taken == 5 * MS || taken == 7 * MS + 500_000, "{taken}");
        held += u64::from(taken > 5 * MS);
    }
    assert!((850..1150).contains(&held), "{held}");
}

#[test]
fn counters_add_up() {
    let text = "jitter=1ms,loss=10%,duplicate=10%,reorder=10%,rate=8mbit,queue=5p,mtu=1000";
    let mut path = Path::new(shape(text), 9);
    let mut arrived = 0;
    for at in 0..20_000 {
        // 900 bytes each 500 us are twice the rate; every tenth is over the MTU.
        let bytes = if at % 10 == 0 { 1001 } else { 900 };
        if let Fate::Arrives { twice, .. } = path.admit(at * MS / 2, bytes) {
            arrived += 1 + u64::from(twice);
        }
    }
    let counters = path.counters();
    assert_eq!((counters.offered, counters.too_big), (20_000, 2_000));
    assert!(counters.queue_full > 1_000 && counters.lost > 500 && counters.held_back > 500);
    assert_eq!(
        counters.offered + counters.duplicated,
        arrived + counters.lost + counters.queue_full + counters.too_big
    );
}

proptest! {
    #[test]
    fn nothing_is_early_nothing_overtakes_and_no_rate_is_exceeded(
        delay_us in 0_u64..50_000,
        jitter_us in 0_u64..5_000,
        rate_kbit in 100_u64..1_000_000,
        seed: u64,
        steps in prop::collection::vec((0_u64..2 * MS, 20_usize..1500), 1..200),
    ) {
        let text = format!("delay={delay_us}us,jitter={jitter_us}us,rate={rate_kbit}kbit,queue=10s");
        let mut path = Path::new(shape(&text), seed);
        let (mut now_ns, mut last_ns, mut first_ns, mut bits) = (0, 0, None, 0_u128);
        for (gap_ns, bytes) in steps {
            now_ns += gap_ns;
            first_ns.get_or_insert(now_ns);
            let Fate::Arrives { at_ns, .. } = path.admit(now_ns, bytes) else {
                continue;
            };
            let sending_ns = (bytes as u64 * 8 * MS).div_ceil(rate_kbit);
            prop_assert!(at_ns >= now_ns + delay_us * 1000 + sending_ns - 1);
            prop_assert!(at_ns >= last_ns);
            last_ns = at_ns;
            bits += bytes as u128 * 8;
            let busy_ns = u128::from(at_ns - first_ns.unwrap_or_default());
            prop_assert!(bits * 1_000_000 <= busy_ns * u128::from(rate_kbit));
        }
    }

    #[test]
    fn a_line_gives_back_all_in_the_order_of_their_instants(
        instants in prop::collection::vec(0_u64..1000, 0..200),
    ) {
        let mut line = Line::new();
        for (number, at_ns) in instants.iter().enumerate() {
            line.push(*at_ns, number);
        }
        let mut expected: Vec<(u64, usize)> =
            instants.iter().copied().enumerate().map(|(number, at)| (at, number)).collect();
        expected.sort_unstable();
        let mut found = Vec::new();
        for now_ns in 0..1000 {
            while let Some((at_ns, number)) = line.due(now_ns) {
                prop_assert_eq!(at_ns, now_ns);
                found.push((at_ns, number));
            }
        }
        prop_assert_eq!(found, expected);
    }
}
