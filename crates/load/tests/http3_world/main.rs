//! HTTP/3 and QPACK in the simulated world of QUIC: a wire that loses, delays, doubles and garbles, addresses that
//! change, keys that do, a server that is started anew. Of each message comes one thing, and what comes is right.
//!
//! The world is that of `wiretrial-net`'s own test; what is said in it is this one's.

#[path = "../../../net/tests/common/certificates.rs"]
#[allow(dead_code, reason = "each test uses its part")]
mod certificates;
#[path = "../../../net/tests/quic_world/making.rs"]
#[allow(dead_code, reason = "each test uses its part")]
mod making;
mod peers;
#[path = "../../../net/tests/quic_world/wire.rs"]
mod wire;
#[path = "../../../net/tests/quic_world/world.rs"]
mod world;

use std::ops::Range;

use making::{
    KEY, client_config, client_settings, drawn, is_farewell, is_invalid_token, plan, server_config,
    server_settings,
};
use peers::{Ends, Tally, large, small};
use wire::Nature;
use wiretrial_net::ClientTlsSettings;
use wiretrial_net::quic::{Early, Fault, QuicClientSettings, QuicServerSettings};
use world::{MS, Plan, SECOND, Twist, play};

/// Worlds of the property; `QUIC_SEEDS` asks for more of them.
const SEEDS: u64 = 200;

#[test]
fn of_each_message_comes_one_thing_whatever_the_wire_does() {
    let count = std::env::var("QUIC_SEEDS").map_or(SEEDS, |it| it.parse().expect("a number"));
    let first = std::env::var("QUIC_SEED").map_or(0, |it| it.parse().expect("a number"));
    let mut whole = 0;
    for seed in first..first + count {
        println!(
            "QUIC_SEED={seed} QUIC_SEEDS=1 cargo test -p wiretrial-load --test http3_world of_each"
        );
        let (outcome, errands) = (play(drawn(seed)), drawn(seed).errands);
        let of = |ends| errands.iter().filter(|it| it.ends == ends).count();
        let tally = outcome.tally;
        match &outcome.fault {
            None => {
                whole += 1;
                assert!(is_farewell(outcome.server_fault.as_ref()), "{outcome:?}");
                // One that is given up may be answered before that.
                let answered = of(Ends::Right) + of(Ends::Refused);
                assert_eq!((tally.open, tally.reset), (0, of(Ends::Reset)), "{outcome:?}");
                assert_eq!(tally.right + tally.given_up, answered + of(Ends::GivenUp));
                assert!(tally.right >= answered && tally.answered >= tally.right, "{outcome:?}");
                assert_eq!(tally.again, of(Ends::Refused), "{outcome:?}");
            }
            // As in the world of QUIC alone.
            Some(fault) => {
                let moves = drawn(seed).twists.iter().any(|(_, it)| it.is_another_address());
                let is_strange = *fault == Fault::TimedOut || is_invalid_token(fault);
                assert!(outcome.garbled > 0 || moves && is_strange, "{outcome:?}");
            }
        }
    }
    assert!(whole * 100 >= count * 85, "{whole} of {count} worlds came to their end");
}

#[test]
fn the_same_seed_plays_the_same() {
    for seed in 1_000..1_010 {
        assert_eq!(play(drawn(seed)), play(drawn(seed)), "seed {seed}");
    }
    assert_ne!(play(drawn(1)).record, play(drawn(2)).record);
}

/// A round trip for the handshake, one for the message, and one more where the client has to prove its address.
#[test]
fn the_first_reply_is_there_after_two_round_trips() {
    for (retry, expected) in [(false, 40 * MS), (true, 60 * MS)] {
        let server = QuicServerSettings { retry, ..server_settings() };
        let outcome = play(Plan { server: server_config(&server), ..one() });
        assert_eq!((outcome.fault.clone(), outcome.tally.right), (None, 1));
        assert_eq!(outcome.ended_at - SECOND, expected, "{outcome:?}");
    }
}

#[test]
fn a_message_before_the_handshakes_end_saves_a_round_trip_and_goes_again_where_it_is_refused() {
    let tls = ClientTlsSettings { resumption: true, ..client_settings().tls };
    let client = QuicClientSettings { tls, early_data: true, ..client_settings() };
    let settings = QuicServerSettings { early_data: true, ..server_settings() };
    let (client, server) = (client_config(&client), server_config(&settings));
    // The last one is another server, which has not kept the session.
    let other = server_config(&settings);
    let servers = [server.clone(), server, other];
    let expected = [(Early::None, 40, 0), (Early::Accepted, 20, 0), (Early::Refused, 40, 1)];
    for ((server, (early, lasts, again)), seed) in servers.into_iter().zip(expected).zip(4..) {
        let outcome = play(Plan { client: client.clone(), server, seed, ..one() });
        assert_eq!((outcome.early, outcome.fault.clone()), (early, None));
        assert_eq!((outcome.tally.right, outcome.tally.again), (1, again), "{outcome:?}");
        assert_eq!(outcome.ended_at - SECOND, lasts * MS, "{outcome:?}");
    }
}

#[test]
fn addresses_and_keys_that_change_are_nothing_to_messages() {
    let moves = || vec![(45 * MS, Twist::Rebinds), (120 * MS, Twist::Moves)];
    let keys = || -> Vec<(u64, Twist)> {
        let twists = [Twist::ClientUpdatesKeys, Twist::ServerUpdatesKeys];
        (4..20).map(|step| (step * 15 * MS, twists[step as usize % 2].clone())).collect()
    };
    for (twists, loses) in [(moves(), 0), (keys(), 20)] {
        let nature = Nature { loses, ..dark(0..0) };
        let outcome = play(Plan { twists, errands: large(), ..plan(nature) });
        assert_eq!((outcome.fault.clone(), outcome.tally), (None, all(4)), "{outcome:?}");
        assert_eq!(outcome.lost > 0, loses > 0, "{outcome:?}");
    }
}

#[test]
fn a_blackout_of_two_seconds_delays_messages_and_loses_none() {
    let outcome = play(Plan { start: 0, errands: large(), ..plan(dark(45 * MS..2_045 * MS)) });
    assert_eq!((outcome.fault.clone(), outcome.tally), (None, all(4)), "{outcome:?}");
    assert!(outcome.ended_at > 2_045 * MS && outcome.lost > 0, "{outcome:?}");
}

/// Those that were answered stay answered; of the others nothing has come when the connection ends.
#[test]
fn what_was_in_flight_ends_with_its_connection_in_the_connections_own_words() {
    let keyed = QuicServerSettings { reset: Some(KEY), seed: Some(99), ..server_settings() };
    let server = server_config(&keyed);
    let twists = vec![(45 * MS, Twist::Restarts(server.clone()))];
    let restarted = Plan { server, twists, errands: large(), ..plan(dark(0..0)) };
    let client = QuicClientSettings { version: Some(0xff00_0021), ..client_settings() };
    let stranger = Plan { client: client_config(&client), ..plan(dark(0..0)) };
    let silenced = Plan { start: 0, errands: large(), ..plan(dark(45 * MS..600 * SECOND)) };
    for (world, expected) in
        [(restarted, Fault::Reset), (stranger, Fault::Version), (silenced, Fault::TimedOut)]
    {
        let outcome = play(world);
        assert_eq!(outcome.fault, Some(expected), "{outcome:?}");
        let Tally { right, open, reset, given_up, again, .. } = outcome.tally;
        assert_eq!((right + open, reset, given_up, again), (4, 0, 0, 0), "{outcome:?}");
        assert!(open > 0, "{outcome:?}");
    }
}

/// One small message, ten milliseconds away.
fn one() -> Plan {
    Plan { errands: small(), ..plan(dark(0..0)) }
}

fn dark(dark: Range<u64>) -> Nature {
    Nature { latency: 10 * MS, dark, ..Nature::default() }
}

/// So many were answered, and nothing else happened.
fn all(count: usize) -> Tally {
    Tally { right: count, answered: count, ..Tally::default() }
}
