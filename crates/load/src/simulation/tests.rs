//! Worlds by the thousand, and the faults that they must find.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use super::checks::check;
use super::scenario::Scenario;
use super::world::{Played, play};
use crate::mutation::{self, Mutation};

/// So many seeds are played in each `cargo test`.
const SEEDS: u64 = 5_000;
/// One in so many is played twice, to see that the same comes of it. Prime to the 5 by which protocols are
/// drawn: each of them has its turn.
const TWICE: u64 = 11;
/// When so many seeds have failed, no more are played.
const MOST_FAILURES: u64 = 20;
/// As many of traffic.
const SEEDS_OF_TRAFFIC: u64 = 2_000;
/// As many of conversations.
const SEEDS_OF_TALK: u64 = 2_000;
/// What plays one seed alone.
const REPEAT: &str = "cargo test -p wiretrial-load --lib one_seed -- --nocapture";

/// What seeds are drawn into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The same message again and again, in every protocol.
    Messages,
    /// Sessions over several routes.
    Traffic,
    /// Sessions that are conversations.
    Talk,
}

impl Kind {
    fn scenario(self, seed: u64) -> Scenario {
        match self {
            Self::Messages => Scenario::of(seed),
            Self::Traffic => Scenario::of_traffic(seed),
            Self::Talk => Scenario::of_talk(seed),
        }
    }

    /// What names a seed of this kind.
    const fn variable(self) -> &'static str {
        match self {
            Self::Messages => "WIRETRIAL_SEED",
            Self::Traffic => "WIRETRIAL_TRAFFIC_SEED",
            Self::Talk => "WIRETRIAL_TALK_SEED",
        }
    }
}

/// Seeds that found something, and what it was. They hold for the scenarios as they are now: who
/// changes how those are drawn looks for others, with the mend taken out.
const FOUND: [(u64, &str); 12] = [
    (12, "messages go again on a new connection, whatever its peer has room for"),
    (15, "packs stay queued where another flush than that of the readiness makes the room"),
    (28, "a message is encoded behind the close that came with the upgrade"),
    (
        43,
        "the slot of a pack that failed in part, and waited for room in part, is never free again",
    ),
    (57, "a peer is not told that a message was given up before something else is said to it"),
    (372, "a reply is taken that began before its message was sent"),
    (121, "a player leaves that has sent its share, and is still owed copies"),
    (1_068, "a connection is given up whose peer refuses messages, and so is there"),
    (1_705, "a connection whose share has room for a part of a pack only is never renewed"),
    (4_129, "a server's goodbye before the connection stands counts as the end of one that stood"),
    (34_958, "a connection that has sent all its own is not opened again for what is queued on it"),
    (180_560, "a worker spins while the last messages wait for their connection"),
];

/// Plays a seed and judges what comes of it.
fn judge(kind: Kind, seed: u64) -> Result<Played, String> {
    let scenario = kind.scenario(seed);
    let played = catch_unwind(AssertUnwindSafe(|| play(&scenario)));
    let played = played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panicked: {}", text.unwrap_or_default()))
    })?;
    check(&scenario, &played)?;
    Ok(played)
}

/// The same, some of them twice: what comes of a seed is the same each time.
fn hold(kind: Kind, seed: u64) -> Result<Played, String> {
    let played = judge(kind, seed)?;
    if seed.is_multiple_of(TWICE) && judge(kind, seed)?.bytes != played.bytes {
        return Err("it gave other snapshots the second time".to_owned());
    }
    Ok(played)
}

#[test]
fn whatever_peers_do_all_that_must_hold_holds() {
    play_all(Kind::Messages, 0, SEEDS);
}

#[test]
fn whatever_peers_do_no_session_is_lost() {
    play_all(Kind::Traffic, 0, SEEDS_OF_TRAFFIC);
}

#[test]
fn whatever_peers_say_no_conversation_is_lost() {
    play_all(Kind::Talk, 0, SEEDS_OF_TALK);
}

#[test]
fn what_was_found_once_holds() {
    for (seed, what) in FOUND {
        if let Err(again) = hold(Kind::Messages, seed) {
            panic!("seed {seed}: {what}: {again}");
        }
    }
}

/// Faults that were put in on purpose, and how they are found.
#[test]
fn faults_that_are_put_in_are_found() {
    let faults = [
        Mutation::EndsTwice,
        Mutation::SlotsLost,
        Mutation::QueueUncounted,
        Mutation::StaleDone,
        Mutation::RetryLost,
        Mutation::NumberIgnored,
        // Of these, the first and the last show in the multiplexed protocol alone.
        Mutation::RoomIgnored,
        Mutation::PieceToOldest,
        Mutation::CancelUnflushed,
        Mutation::CopyTwice,
        Mutation::Uncompared,
        Mutation::OwedForgotten,
    ];
    let of_traffic = [
        Mutation::CaptureMissed,
        Mutation::SessionLost,
        Mutation::WrongUnheard,
        Mutation::UnjudgedForgotten,
        Mutation::LatestFirst,
        Mutation::WrongUser,
    ];
    let of_talk = [
        Mutation::SessionLost,
        Mutation::AnyAnswer,
        Mutation::EarlyForgotten,
        Mutation::GoneUnnoticed,
    ];
    let faults = faults.map(|fault| (Kind::Messages, fault)).into_iter();
    let faults = faults.chain(of_traffic.map(|fault| (Kind::Traffic, fault)));
    for (kind, fault) in faults.chain(of_talk.map(|fault| (Kind::Talk, fault))) {
        let found = mutation::with(fault, || {
            (0..SEEDS).find_map(|seed| judge(kind, seed).err().map(|what| (seed, what)))
        });
        let (seed, what) = found.unwrap_or_else(|| panic!("{fault:?} was not found"));
        println!("{fault:?}: seed {seed}: {what}");
    }
}

/// The seed in `WIRETRIAL_SEED`, `WIRETRIAL_TRAFFIC_SEED` or `WIRETRIAL_TALK_SEED`, with all that is known of it.
#[test]
fn one_seed() {
    for kind in [Kind::Messages, Kind::Traffic, Kind::Talk] {
        let Some(seed) = number(kind.variable()) else { continue };
        println!("{:#?}", kind.scenario(seed));
        let played = hold(kind, seed).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        println!("{:#?}\n{} turns", played.summary, played.turns);
    }
}

/// As many seeds as `WIRETRIAL_SEEDS` says, from `WIRETRIAL_FROM` on: `make simulate`.
#[test]
#[ignore = "takes as long as it is asked for: make simulate"]
fn many_seeds() {
    let from = number("WIRETRIAL_FROM").unwrap_or(0);
    let seeds = number("WIRETRIAL_SEEDS").unwrap_or(1_000_000);
    play_all(Kind::Messages, from, seeds);
    play_all(Kind::Traffic, from, seeds / 4);
    play_all(Kind::Talk, from, seeds / 4);
}

/// Plays seeds on all cores, and says of each that fails what repeats it.
fn play_all(kind: Kind, from: u64, seeds: u64) {
    let (next, failed) = (AtomicU64::new(from), AtomicU64::new(0));
    let play = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= from + seeds || failed.load(Ordering::Relaxed) >= MOST_FAILURES {
            return;
        }
        let done = seed - from;
        if done > 0 && done.is_multiple_of(seeds.div_ceil(100)) {
            println!("{done} of {seeds} seeds");
        }
        if let Err(what) = hold(kind, seed) {
            failed.fetch_add(1, Ordering::Relaxed);
            let variable = kind.variable();
            println!("seed {seed}: {what}\nto repeat it: {variable}={seed} {REPEAT}");
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(play);
        }
    });
    assert_eq!(failed.into_inner(), 0, "seeds failed");
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
