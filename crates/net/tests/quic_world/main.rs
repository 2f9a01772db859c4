//! QUIC in a simulated world: two cores, a wire that loses, delays, doubles and garbles, and a seed from
//! which all of it follows. Either all bytes of all streams arrive, in order, or the connection ends with
//! a stated fault.

#[path = "../common/mod.rs"]
mod common;
mod making;
mod peers;
mod wire;
mod world;

use std::time::Duration;

use common::certificates;
use making::{
    KEY, client_config, client_settings, drawn, is_farewell, is_invalid_token, lossy, plan,
    server_config, server_settings,
};
use peers::{Ends, large};
use wire::Nature;
use wiretrial_net::quic::{
    Early, Fault, QuicClientSettings, QuicServerSettings, TransportSettings,
};
use wiretrial_net::{Alpn, ClientTlsSettings, Congestion, NetErrorClass};
use world::{MS, Plan, SECOND, Twist, play};

const ONE_SECOND: Option<Duration> = Some(Duration::from_secs(1));

/// Worlds of the property; `QUIC_SEEDS` asks for more of them.
const SEEDS: u64 = 200;

#[test]
fn all_bytes_arrive_in_order_or_the_connection_ends_with_a_stated_fault() {
    let count = std::env::var("QUIC_SEEDS").map_or(SEEDS, |it| it.parse().expect("a number"));
    let first = std::env::var("QUIC_SEED").map_or(0, |it| it.parse().expect("a number"));
    let mut whole = 0;
    for seed in first..first + count {
        println!(
            "QUIC_SEED={seed} QUIC_SEEDS=1 cargo test -p wiretrial-net --test quic_world all_bytes"
        );
        let outcome = play(drawn(seed));
        match &outcome.fault {
            None => {
                whole += 1;
                assert!(is_farewell(outcome.server_fault.as_ref()), "{outcome:?}");
                let errands = drawn(seed).errands;
                let kept = errands.iter().filter(|it| matches!(it.ends, Ends::Whole)).count();
                assert!(outcome.tally.finished >= kept as u64, "{outcome:?}");
            }
            // A wire that garbles may garble what is not protected yet. Who moves before the handshake's end
            // is a stranger, with a token that is another's.
            Some(fault) => assert!(
                outcome.garbled > 0
                    || drawn(seed).twists.iter().any(|(_, twist)| twist.is_another_address())
                        && (*fault == Fault::TimedOut || is_invalid_token(fault)),
                "{outcome:?}"
            ),
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

#[test]
fn a_perfect_wire_loses_nothing_and_takes_two_round_trips_to_the_first_byte() {
    let outcome = play(plan(Nature { latency: 10 * MS, ..Nature::default() }));
    assert_eq!((outcome.fault, outcome.lost), (None, 0));
    let counters = outcome.counters;
    assert_eq!((counters.packets_lost, counters.congestion), (0, "cubic"));
    assert_eq!(counters.handshake_ns, 20 * MS, "one round trip");
    assert_eq!(counters.min_rtt_ns, 20 * MS);
    assert!(counters.datagrams_sent > counters.batches_sent, "{counters:?}");
}

#[test]
fn every_congestion_controller_says_its_name() {
    for (congestion, name) in
        [(Congestion::Cubic, "cubic"), (Congestion::NewReno, "new_reno"), (Congestion::Bbr, "bbr")]
    {
        let transport = TransportSettings { congestion, ..TransportSettings::default() };
        let client = QuicClientSettings { transport, ..client_settings() };
        let outcome = play(Plan { client: client_config(&client), ..plan(lossy()) });
        assert_eq!((outcome.fault, outcome.counters.congestion), (None, name));
        assert!(outcome.counters.packets_lost > 0);
    }
}

#[test]
fn small_windows_hold_the_sender_up_and_the_time_is_counted() {
    let transport = TransportSettings {
        stream_window: 5_000,
        connection_window: 8_000,
        peer_bidirectional: 2,
        ..TransportSettings::default()
    };
    let server = QuicServerSettings { transport, ..server_settings() };
    let nature = Nature { latency: 5 * MS, ..Nature::default() };
    let outcome = play(Plan { server: server_config(&server), ..plan(nature) });
    assert_eq!(outcome.fault, None);
    let counters = outcome.counters;
    assert!(counters.blocked_by_stream_window > 0, "{counters:?}");
    assert!(counters.blocked_by_connection_window > 0, "{counters:?}");
    assert!(counters.write_blocked_ns > 10 * MS, "{counters:?}");
    assert!(counters.open_blocked_ns > 10 * MS, "{counters:?}");
    assert!(counters.write_blocked_ns <= outcome.ended_at, "{counters:?}");
    let free = play(plan(Nature { latency: 5 * MS, ..Nature::default() })).counters;
    assert_eq!((free.write_blocked_ns, free.open_blocked_ns), (0, 0));
    assert_eq!((free.blocked_by_stream_window, free.blocked_by_connection_window), (0, 0));
}

#[test]
fn a_client_whose_address_changes_goes_on() {
    for twist in [Twist::Rebinds, Twist::Moves] {
        let nature = Nature { latency: 10 * MS, ..Nature::default() };
        let twists = vec![(45 * MS, twist.clone()), (120 * MS, twist)];
        let outcome = play(Plan { twists, errands: large(), ..plan(nature) });
        assert_eq!(outcome.fault, None);
        assert!(is_farewell(outcome.server_fault.as_ref()));
    }
}

#[test]
fn a_peer_that_is_silent_for_too_long_is_given_up_on_both_sides() {
    let transport = TransportSettings { idle_timeout: ONE_SECOND, ..TransportSettings::default() };
    let client = QuicClientSettings { transport, ..client_settings() };
    // Dark for longer than the timeout, from the middle of the errands on.
    let nature = Nature { latency: 10 * MS, dark: 45 * MS..60 * SECOND, ..Nature::default() };
    let made = Plan { client: client_config(&client), errands: large(), ..plan(nature) };
    let outcome = play(Plan { start: 0, ..made });
    assert_eq!(outcome.fault, Some(Fault::TimedOut));
    assert_eq!(outcome.server_fault, Some(Fault::TimedOut));
    assert!(outcome.ended_at < 3 * SECOND, "{outcome:?}");
}

#[test]
fn an_idle_connection_ends_unless_it_is_kept_alive() {
    let some = Duration::from_millis(300);
    for (keep_alive, expected) in [(None, Some(Fault::TimedOut)), (Some(some), None)] {
        let transport = TransportSettings {
            idle_timeout: ONE_SECOND,
            keep_alive,
            ..TransportSettings::default()
        };
        let client = QuicClientSettings { transport, ..client_settings() };
        let nature = Nature { latency: 10 * MS, ..Nature::default() };
        let made = plan(nature);
        let outcome = play(Plan { client: client_config(&client), pause: 10 * SECOND, ..made });
        assert_eq!(outcome.fault, expected, "{keep_alive:?}");
    }
}

#[test]
fn a_blackout_of_two_seconds_is_survived() {
    let nature = Nature { latency: 10 * MS, dark: 45 * MS..2_045 * MS, ..Nature::default() };
    let outcome = play(Plan { start: 0, errands: large(), ..plan(nature) });
    assert_eq!(outcome.fault, None);
    assert!(outcome.ended_at > 2_045 * MS && outcome.lost > 0, "{outcome:?}");
}

#[test]
fn a_server_that_was_started_anew_resets_its_clients_if_it_has_the_key() {
    for (key, expected) in [(Some(KEY), Fault::Reset), (None, Fault::TimedOut)] {
        let settings = QuicServerSettings { reset: key, seed: Some(99), ..server_settings() };
        let server = server_config(&settings);
        let twists = vec![(45 * MS, Twist::Restarts(server.clone()))];
        let nature = Nature { latency: 10 * MS, ..Nature::default() };
        let outcome = play(Plan { server, twists, errands: large(), ..plan(nature) });
        assert_eq!(outcome.fault, Some(expected));
    }
}

#[test]
fn keys_are_updated_by_either_side_in_the_middle_of_streams() {
    let nature = Nature { latency: 10 * MS, loses: 20, ..Nature::default() };
    let twists = (4..20)
        .map(|step| {
            let is_even = step % 2 == 0;
            let twist = if is_even { Twist::ClientUpdatesKeys } else { Twist::ServerUpdatesKeys };
            (step * 15 * MS, twist)
        })
        .collect();
    let outcome = play(Plan { twists, errands: large(), ..plan(nature) });
    assert_eq!(outcome.fault, None);
}

#[test]
fn a_client_that_must_prove_its_address_takes_a_round_trip_more() {
    let nature = || Nature { latency: 10 * MS, ..Nature::default() };
    let settings = QuicServerSettings { retry: true, ..server_settings() };
    let outcome = play(Plan { server: server_config(&settings), ..plan(nature()) });
    assert_eq!((outcome.fault, outcome.server.retried, outcome.server.accepted), (None, 1, 1));
    assert_eq!(outcome.counters.handshake_ns, 40 * MS);
}

#[test]
fn a_client_of_another_version_hears_that_nobody_speaks_it() {
    let settings = QuicClientSettings { version: Some(0xff00_0021), ..client_settings() };
    let nature = Nature { latency: 10 * MS, ..Nature::default() };
    let outcome = play(Plan { client: client_config(&settings), ..plan(nature) });
    assert_eq!(outcome.fault, Some(Fault::Version));
    assert_eq!((outcome.server.accepted, outcome.server.replies), (0, 1));
    assert_eq!(outcome.ended_at - SECOND, 20 * MS);
}

#[test]
fn what_is_sent_before_the_handshake_is_taken_or_refused_and_arrives_either_way() {
    let nature = || Nature { latency: 10 * MS, ..Nature::default() };
    let tls = ClientTlsSettings { resumption: true, ..client_settings().tls };
    let client = QuicClientSettings { tls, early_data: true, ..client_settings() };
    let settings = QuicServerSettings { early_data: true, ..server_settings() };
    let (client, server) = (client_config(&client), server_config(&settings));
    let first = Plan { client: client.clone(), server: server.clone(), ..plan(nature()) };
    let outcome = play(first);
    assert_eq!((outcome.early, outcome.resumed), (Early::None, Some(false)));
    let second = Plan { client: client.clone(), server, seed: 5, ..plan(nature()) };
    let outcome = play(second);
    assert_eq!((outcome.early, outcome.fault), (Early::Accepted, None));
    assert_eq!(outcome.resumed, Some(true));
    // Another server, which has not kept the session.
    let third = Plan { client, server: server_config(&settings), seed: 6, ..plan(nature()) };
    let outcome = play(third);
    assert_eq!((outcome.early, outcome.fault), (Early::Refused, None));
    assert_eq!(outcome.resumed, Some(false));
}

#[test]
fn a_session_is_resumed_where_that_is_wanted_and_without_early_data() {
    for resumption in [true, false] {
        let tls = ClientTlsSettings { resumption, ..client_settings().tls };
        let client = client_config(&QuicClientSettings { tls, ..client_settings() });
        let server = server_config(&server_settings());
        for round in 0..2 {
            let nature = Nature { latency: 10 * MS, ..Nature::default() };
            let (client, server) = (client.clone(), server.clone());
            let outcome = play(Plan { client, server, seed: round, ..plan(nature) });
            assert_eq!(outcome.early, Early::None);
            assert_eq!(outcome.resumed, Some(resumption && round > 0), "round {round}");
        }
    }
}

#[test]
fn a_server_that_has_as_many_connections_as_it_may_refuses() {
    let settings = QuicServerSettings { most_connections: Some(0), ..server_settings() };
    let nature = Nature { latency: 10 * MS, ..Nature::default() };
    let outcome = play(Plan { server: server_config(&settings), ..plan(nature) });
    let fault = outcome.fault.expect("a fault");
    assert_eq!(fault.class(), NetErrorClass::Refused, "{fault}");
    assert_eq!(outcome.server.refused, 1);
}

#[test]
fn certificates_and_protocols_that_do_not_fit_are_named() {
    let other = certificates::of_one_size("localhost");
    let tls = ClientTlsSettings { ca_file: Some(other.ca), ..client_settings().tls };
    let stranger = QuicClientSettings { tls, ..client_settings() };
    let tls = ClientTlsSettings { server_name: "example.net".into(), ..client_settings().tls };
    let misnamed = QuicClientSettings { tls, ..client_settings() };
    let tls = ClientTlsSettings { alpn: vec![Alpn::Http2], ..client_settings().tls };
    let polyglot = QuicClientSettings { tls, ..client_settings() };
    for (settings, words) in
        [(stranger, "--cacert"), (misnamed, "not for 'example.net'"), (polyglot, "(ALPN h2)")]
    {
        let nature = Nature { latency: MS, ..Nature::default() };
        let outcome = play(Plan { client: client_config(&settings), ..plan(nature) });
        let fault = outcome.fault.expect("a fault");
        assert!(fault.to_string().contains(words), "{fault}");
        assert_eq!(fault.class(), NetErrorClass::Tls);
    }
}
