//! How worlds are made: settings of both sides, a quiet world, and one that a seed draws.
//!
//! Knows neither what is said nor what must come of it: that is `peers`', which each test has of its own.

use std::sync::LazyLock;

use fastrand::Rng;
use wiretrial_net::quic::{
    Fault, QuicClientConfig, QuicClientSettings, QuicServerConfig, QuicServerSettings, ResetKey,
    TransportSettings,
};
use wiretrial_net::{Alpn, ClientTlsSettings, Congestion};

use crate::certificates::{Issued, of_one_size};
use crate::peers::{self, DONE};
use crate::wire::Nature;
use crate::world::{MS, Plan, SECOND, Twist};

pub(crate) static CERTIFICATES: LazyLock<Issued> = LazyLock::new(|| of_one_size("localhost"));

pub(crate) const KEY: ResetKey = ResetKey([7; 32]);

/// A world that a seed draws.
pub(crate) fn drawn(seed: u64) -> Plan {
    let mut random = Rng::with_seed(seed);
    let choice = |random: &mut Rng, choices: &[u64]| choices[random.usize(..choices.len())];
    let latency = choice(&mut random, &[100_000, MS, 10 * MS, 50 * MS]);
    let dark_from = choice(&mut random, &[20 * MS, 100 * MS, 500 * MS]);
    let is_dark = random.u8(..4) == 0;
    let nature = Nature {
        loses: choice(&mut random, &[0, 0, 64, 16, 8]),
        doubles: choice(&mut random, &[0, 32, 8]),
        garbles: choice(&mut random, &[0, 0, 64, 16]),
        marks: choice(&mut random, &[0, 0, 32]),
        latency,
        jitter: latency * choice(&mut random, &[0, 1, 4]),
        dark: if is_dark { SECOND + dark_from..3 * SECOND + dark_from } else { 0..0 },
        coalesces: random.bool(),
    };
    let errands = (0..random.usize(1..12)).map(|_| peers::drawn(&mut random)).collect();
    let mut twists = Vec::new();
    for twist in [Twist::Rebinds, Twist::Moves, Twist::ClientUpdatesKeys, Twist::ServerUpdatesKeys]
    {
        if random.u8(..4) == 0 {
            twists.push((random.u64(0..400 * MS), twist));
        }
    }
    let transport = |random: &mut Rng| TransportSettings {
        congestion: [Congestion::Cubic, Congestion::NewReno, Congestion::Bbr][random.usize(..3)],
        stream_window: choice(random, &[2_000, 20_000, 1 << 24]) as u32,
        connection_window: choice(random, &[4_000, 50_000, 1 << 24]) as u32,
        send_window: choice(random, &[4_000, 1 << 24]),
        peer_bidirectional: choice(random, &[1, 3, 100]) as u32,
        batch: choice(random, &[1, 4, 32]) as usize,
        ..TransportSettings::default()
    };
    let client = QuicClientSettings {
        transport: transport(&mut random),
        seed: Some(seed),
        ..client_settings()
    };
    let server = QuicServerSettings {
        transport: transport(&mut random),
        retry: random.bool(),
        reset: random.bool().then_some(KEY),
        seed: Some(!seed),
        ..server_settings()
    };
    Plan {
        client: client_config(&client),
        server: server_config(&server),
        nature,
        errands,
        twists,
        seed,
        start: SECOND,
        pause: 0,
    }
}

/// Four errands, and a quiet world around them.
pub(crate) fn plan(nature: Nature) -> Plan {
    Plan {
        client: client_config(&client_settings()),
        server: server_config(&server_settings()),
        nature,
        errands: peers::four(),
        twists: Vec::new(),
        seed: 4,
        start: SECOND,
        pause: 0,
    }
}

pub(crate) fn lossy() -> Nature {
    Nature { latency: 10 * MS, loses: 10, ..Nature::default() }
}

pub(crate) fn is_farewell(fault: Option<&Fault>) -> bool {
    // A farewell that was lost is sent again only when the server speaks; it hears nothing more otherwise.
    matches!(fault, Some(Fault::Closed { code: DONE, .. } | Fault::TimedOut))
}

pub(crate) fn is_invalid_token(fault: &Fault) -> bool {
    matches!(fault, Fault::Aborted { code: 0xb, .. })
}

pub(crate) fn client_settings() -> QuicClientSettings {
    QuicClientSettings {
        tls: ClientTlsSettings {
            ca_file: Some(CERTIFICATES.ca.clone()),
            server_name: "localhost".into(),
            alpn: vec![Alpn::Http3],
            ..ClientTlsSettings::default()
        },
        seed: Some(1),
        ..QuicClientSettings::default()
    }
}

pub(crate) fn server_settings() -> QuicServerSettings {
    QuicServerSettings {
        cert: CERTIFICATES.cert.clone(),
        key: CERTIFICATES.key.clone(),
        alpn: vec![Alpn::Http3],
        seed: Some(2),
        ..QuicServerSettings::default()
    }
}

pub(crate) fn client_config(settings: &QuicClientSettings) -> QuicClientConfig {
    QuicClientConfig::new(settings).expect("settings")
}

pub(crate) fn server_config(settings: &QuicServerSettings) -> QuicServerConfig {
    QuicServerConfig::new(settings).expect("settings")
}
