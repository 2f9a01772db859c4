//! How often memory is taken for a connection of QUIC, in steady state: per request on a stream of its own,
//! and per datagram of a long stream. Cores alone; what is counted is the client's calls.

mod common;

use std::alloc::System;
use std::net::SocketAddr;

use common::certificates::of_one_size;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use wiretrial_net::quic::{
    Arena, Arrival, ClientCore, Direction, Event, Handle, QuicClientConfig, QuicClientSettings,
    QuicServerConfig, QuicServerSettings, Read, ServerCore, Transmit,
};
use wiretrial_net::{Alpn, ClientTlsSettings};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const REQUEST: [u8; 48] = [0x42; 48];
const REPLY: [u8; 1100] = [0x24; 1100];
/// Requests of a batch, all in flight at once.
const STREAMS: usize = 32;

#[test]
fn table_of_allocations_in_steady_state() {
    let mut world = World::new();
    // The memory for datagrams that came is shared by all of a thread.
    let held = world.tally.bytes - 64 * 1024;
    println!("{held} bytes held per connection of a client after its handshake");
    assert!(held < 64 * 1024, "{held} bytes");
    for _ in 0..50 {
        world.batch();
    }
    let before = world.tally.allocations;
    for _ in 0..100 {
        world.batch();
    }
    let each = (world.tally.allocations - before) as f64 / (100 * STREAMS) as f64;
    println!("{each:.2} allocations per request of {STREAMS} in flight");
    // Of the library: the state of each direction of a stream, what is written, and what came until it is read.
    assert!(each <= 8.0, "{each} allocations per request");

    world.long(2_000_000);
    let (before, datagrams) = (world.tally.allocations, world.datagrams);
    world.long(8_000_000);
    let datagrams = world.datagrams - datagrams;
    let each = (world.tally.allocations - before) as f64 / datagrams as f64;
    println!("{each:.3} allocations per datagram of a long stream, {datagrams} datagrams");
    assert!(each <= 0.5, "{each} allocations per datagram");
}

struct World {
    now: u64,
    client: ClientCore,
    server: ServerCore,
    handle: Option<Handle>,
    arena: Arena,
    servers_arena: Arena,
    out: Vec<u8>,
    read: Vec<u8>,
    /// Of the client's calls.
    tally: Tally,
    /// Either way.
    datagrams: usize,
}

impl World {
    fn new() -> Self {
        let certificates = of_one_size("localhost");
        let client = QuicClientConfig::new(&QuicClientSettings {
            tls: ClientTlsSettings {
                ca_file: Some(certificates.ca),
                server_name: "localhost".into(),
                alpn: vec![Alpn::Http3],
                ..ClientTlsSettings::default()
            },
            ..QuicClientSettings::default()
        });
        let server = QuicServerConfig::new(&QuicServerSettings {
            cert: certificates.cert,
            key: certificates.key,
            alpn: vec![Alpn::Http3],
            ..QuicServerSettings::default()
        });
        let (now, client, mut tally) = (1, client.expect("settings"), Tally::default());
        let begin = Region::new(ALLOCATOR);
        let core = ClientCore::connect(&client, address(443), now).expect("an address");
        tally.add(&begin);
        let mut world = Self {
            now,
            client: core,
            server: ServerCore::new(&server.expect("settings")),
            handle: None,
            arena: Arena::default(),
            servers_arena: Arena::default(),
            out: Vec::with_capacity(65_535),
            read: Vec::new(),
            tally,
            datagrams: 0,
        };
        for _ in 0..50 {
            world.turn(&mut |_, _| {}, &mut |_, _, _| {});
        }
        assert!(world.handle.is_some() && !world.client.connection().is_handshaking());
        world
    }

    /// Requests on streams of their own, until all replies are there.
    fn batch(&mut self) {
        let now = self.now;
        let begin = Region::new(ALLOCATOR);
        let connection = self.client.connection();
        for _ in 0..STREAMS {
            let id = connection.open(Direction::Bidirectional, now).expect("allowed");
            assert_eq!(connection.write(id, &REQUEST, now), Ok(REQUEST.len()));
            connection.finish(id).expect("open");
        }
        self.tally.add(&begin);
        let mut replies = 0;
        for _ in 0..50 {
            self.turn(&mut |ended, _| replies += usize::from(ended), &mut |connection, id, now| {
                assert_eq!(connection.write(id, &REPLY, now), Ok(REPLY.len()));
                connection.finish(id).expect("open");
            });
            if replies == STREAMS {
                return;
            }
        }
        panic!("{replies} replies");
    }

    /// One reply that is so long.
    fn long(&mut self, length: usize) {
        let now = self.now;
        let connection = self.client.connection();
        let id = connection.open(Direction::Bidirectional, now).expect("allowed");
        connection.finish(id).expect("open");
        let (reply, mut count, mut is_over) = (vec![7; length], 0, false);
        for _ in 0..20_000 {
            self.turn(
                &mut |ended, bytes| {
                    count += bytes;
                    is_over |= ended;
                },
                &mut |connection, id, now| {
                    assert_eq!(connection.write(id, &reply, now), Ok(length), "windows are larger");
                    connection.finish(id).expect("open");
                },
            );
            if is_over {
                assert_eq!(count, length);
                return;
            }
        }
        panic!("{count} bytes of {length}");
    }

    /// A millisecond. Tells what was read of a stream and whether that is all; has requests answered that ended.
    fn turn(
        &mut self,
        read: &mut dyn FnMut(bool, usize),
        answer: &mut dyn FnMut(&mut wiretrial_net::quic::Connection, u64, u64),
    ) {
        self.now += 1_000_000;
        let now = self.now;
        loop {
            let begin = Region::new(ALLOCATOR);
            self.client.on_deadline(now);
            let made = self.client.transmit(now, &mut self.out);
            self.tally.add(&begin);
            let Some(made) = made else { break };
            self.datagrams += made.count();
            let arrival = arrival(&made, address(1));
            self.server.receive(&arrival, &self.out, now, &mut self.servers_arena);
        }
        self.server.on_deadline(now);
        while let Some((handle, event)) = self.server.event(now) {
            self.handle = Some(handle);
            let Some(connection) = self.server.connection(handle) else { continue };
            if let Event::Readable(id) = event {
                self.read.clear();
                if connection.read(id, &mut self.read, usize::MAX) == Ok(Read::Finished) {
                    answer(connection, id, now);
                }
            }
        }
        while let Some(made) = self.server.transmit(now, &mut self.out) {
            self.datagrams += made.count();
            let begin = Region::new(ALLOCATOR);
            let arrival = arrival(&made, address(443));
            self.client.receive(&arrival, &self.out, now, &mut self.arena);
            while let Some(event) = self.client.event(now) {
                let Event::Readable(id) = event else { continue };
                self.read.clear();
                let ended = self.client.connection().read(id, &mut self.read, usize::MAX);
                read(ended == Ok(Read::Finished), self.read.len());
            }
            self.tally.add(&begin);
        }
    }
}

fn arrival(made: &Transmit, from: SocketAddr) -> Arrival {
    Arrival { length: made.length, stride: made.stride, from, to: None, ecn: made.ecn }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// What was taken, and what is still held of it.
#[derive(Default)]
struct Tally {
    allocations: usize,
    bytes: isize,
}

impl Tally {
    fn add(&mut self, region: &Region<'_, System>) {
        let change = region.change();
        self.allocations += change.allocations;
        self.bytes += change.bytes_allocated.cast_signed() - change.bytes_deallocated.cast_signed();
    }
}
