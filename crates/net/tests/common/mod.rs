//! Both ends of a connection on one driver, moved by hand and bounded in
//! turns, so that a fault is a failure and never a hang.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod certificates;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use wiretrial_net::{
    ConnectSpec, Driver, DriverConfig, Fill, Key, NetError, PollerKind, Ready, Socket, Transport,
};

pub(crate) const LISTENER: Key = Key { slot: 0, generation: 1 };
pub(crate) const CLIENT: Key = Key { slot: 1, generation: 1 };
pub(crate) const SERVER: Key = Key { slot: 2, generation: 1 };

/// No test needs more turns; each waits at most this long when idle.
const TURNS: usize = 20_000;
const IDLE: Duration = Duration::from_millis(1);

/// The poller that these tests are about: the best one, unless the
/// environment names another.
pub(crate) fn config() -> DriverConfig {
    let poller = match std::env::var("WIRETRIAL_TEST_POLLER").as_deref() {
        Err(_) => PollerKind::Auto,
        Ok("uring") => PollerKind::Uring,
        Ok("epoll") => PollerKind::Epoll,
        Ok(other) => panic!("no poller is called {other}"),
    };
    DriverConfig { poller, ..DriverConfig::default() }
}

pub(crate) fn driver() -> Driver {
    Driver::new(&config()).expect("a driver")
}

pub(crate) fn small_driver() -> Driver {
    Driver::new(&DriverConfig { buffer_bytes: 4096, ..config() }).expect("a driver")
}

pub(crate) fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

pub(crate) fn spec(peer: SocketAddr) -> ConnectSpec {
    ConnectSpec { peer, source: None, nodelay: true, receive_buffer: None, congestion: None }
}

/// Waits for a readiness for which `wanted` holds; others are passed over.
pub(crate) fn await_ready(driver: &mut Driver, wanted: impl Fn(&Ready) -> bool) -> Ready {
    for _ in 0..TURNS {
        driver.wait(Some(IDLE)).expect("wait");
        while let Some(ready) = driver.next() {
            if wanted(&ready) {
                return ready;
            }
        }
    }
    panic!("the readiness never came");
}

/// Whether a readiness for which `unwanted` holds comes within a few turns.
pub(crate) fn comes(driver: &mut Driver, unwanted: impl Fn(&Ready) -> bool) -> bool {
    for _ in 0..20 {
        driver.wait(Some(IDLE)).expect("wait");
        while let Some(ready) = driver.next() {
            if unwanted(&ready) {
                return true;
            }
        }
    }
    false
}

/// A connected pair: the client's socket and the server's.
pub(crate) fn pair(driver: &mut Driver) -> (Socket, Socket) {
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    pair_with(driver, &spec(listener.local_addr()), &listener)
}

pub(crate) fn pair_with(
    driver: &mut Driver,
    spec: &ConnectSpec,
    listener: &wiretrial_net::Listener,
) -> (Socket, Socket) {
    let mut client = driver.connect(CLIENT, spec).expect("connect");
    await_ready(driver, |ready| ready.key == CLIENT && ready.connected);
    driver.connect_result(&mut client).expect("connected");
    for _ in 0..TURNS {
        if let Some((server, peer)) = driver.accept(listener, SERVER).expect("accept") {
            assert_eq!(peer, client.local_addr().expect("an address"));
            return (client, server);
        }
        driver.wait(Some(IDLE)).expect("wait");
    }
    panic!("nothing to accept");
}

/// What one end has got so far.
#[derive(Debug, Default)]
pub(crate) struct Got {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ended: bool,
    pub(crate) failed: Option<NetError>,
}

impl Got {
    fn is_over(&self) -> bool {
        self.ended || self.failed.is_some()
    }
}

/// Flushes and fills both ends until `enough`, as readiness comes.
pub(crate) fn exchange(
    driver: &mut Driver,
    client: &mut Transport,
    server: &mut Transport,
    enough: impl Fn(&Got, &Got, &Transport, &Transport) -> bool,
) -> (Got, Got) {
    let (mut at_client, mut at_server) = (Got::default(), Got::default());
    for _ in 0..TURNS {
        turn(driver, client, &mut at_client);
        turn(driver, server, &mut at_server);
        if enough(&at_client, &at_server, client, server) {
            return (at_client, at_server);
        }
        driver.wait(Some(IDLE)).expect("wait");
        while driver.next().is_some() {}
    }
    panic!("never enough: {at_client:?} {at_server:?}");
}

fn turn(driver: &mut Driver, transport: &mut Transport, got: &mut Got) {
    if got.failed.is_some() {
        return;
    }
    if let Err(error) = transport.flush(driver) {
        got.failed = Some(error);
        return;
    }
    while !got.is_over() {
        match transport.fill(driver, &mut Vec::new()) {
            Fill::Data(data, new, drained) => {
                assert_eq!(data.len(), new, "nothing was carried");
                got.bytes.extend_from_slice(data);
                if drained {
                    return;
                }
            }
            Fill::WouldBlock => return,
            Fill::End => got.ended = true,
            Fill::Failed(error) => got.failed = Some(error),
        }
    }
}

/// Bytes that differ from place to place, so that a swap or a gap shows.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
