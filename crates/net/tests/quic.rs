//! QUIC over real sockets of loopback, with and without several datagrams per call.

mod common;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd as _;
use std::time::Duration;

use common::certificates::{Issued, issued, self_signed};
use common::driver;
use wiretrial_net::quic::{
    Connection, Direction, Event, Fault, Handle, QuicClient, QuicClientConfig, QuicClientSettings,
    QuicServer, QuicServerConfig, QuicServerSettings, Read, Scratch, TransportSettings,
    UdpSettings,
};
use wiretrial_net::{Alpn, ClientTlsSettings, Driver, Key, NetError, NetErrorClass, monotonic_ns};

/// No test needs more turns; each waits a millisecond at most when idle.
const TURNS: usize = 20_000;
const IDLE: Duration = Duration::from_millis(1);
/// The server's; the clients' are their indices.
const SERVER: u32 = 1_000;

const LARGE: usize = 2_000_000;

#[test]
fn bytes_come_back_with_and_without_several_datagrams_per_call() {
    for (segments, coalesced, batch) in [
        (true, true, 32),
        (true, false, 32),
        (false, true, 32),
        (false, false, 32),
        (false, false, 1),
    ] {
        let udp = UdpSettings { segments, coalesced, ..UdpSettings::default() };
        let mut world = World::new(Ipv4Addr::LOCALHOST.into(), udp, batch);
        world.connect(Ipv4Addr::LOCALHOST.into(), 1);
        world.echo(LARGE);
        let (sent, received) = (world.clients[0].socket_counters(), world.server.socket_counters());
        let connection = world.clients[0].connection().counters(monotonic_ns());
        assert_eq!(sent.datagrams_sent, connection.datagrams_sent, "{sent:?}");
        assert_eq!(sent.bytes_sent, connection.bytes_sent);
        assert_eq!(world.clients[0].bytes(), (sent.bytes_sent, sent.bytes_received));
        assert!(connection.rtt_ns > 0 && connection.congestion_window > 0, "{connection:?}");
        assert!(received.bytes_received >= LARGE as u64, "{received:?}");
        if segments {
            assert!(sent.sends < sent.datagrams_sent, "{sent:?}");
            assert!((2..=64).contains(&sent.most_sent_at_once), "{sent:?}");
        } else {
            assert_eq!((sent.sends, sent.most_sent_at_once), (sent.datagrams_sent, 1));
        }
        if coalesced && segments {
            assert!(received.most_received_at_once > 1, "{received:?}");
        }
        if !coalesced {
            assert_eq!(received.most_received_at_once, 1, "{received:?}");
        }
        assert!(received.dropped.is_some(), "{received:?}");
    }
}

#[test]
fn the_server_answers_from_the_address_that_was_asked() {
    let asked: IpAddr = Ipv4Addr::new(127, 0, 0, 5).into();
    let mut world = World::new(Ipv4Addr::UNSPECIFIED.into(), UdpSettings::default(), 32);
    world.connect(asked, 1);
    world.echo(10_000);
}

#[test]
fn addresses_of_ipv6_do_as_well() {
    let ip: IpAddr = Ipv6Addr::LOCALHOST.into();
    if std::net::UdpSocket::bind((ip, 0)).is_err() {
        println!("skipped: this machine has no IPv6");
        return;
    }
    for server in [ip, Ipv6Addr::UNSPECIFIED.into()] {
        let mut world = World::new(server, UdpSettings::default(), 32);
        world.connect(ip, 1);
        world.echo(100_000);
    }
}

#[test]
fn many_clients_share_the_servers_socket_and_one_of_them_moves() {
    let mut world = World::new(Ipv4Addr::LOCALHOST.into(), UdpSettings::default(), 32);
    world.connect(Ipv4Addr::LOCALHOST.into(), 40);
    world.echo(3_000);
    assert_eq!((world.server.counters().accepted, world.server.connections()), (40, 40));
    let peer = world.address(Ipv4Addr::LOCALHOST.into());
    world.clients[7].rebind(peer, &UdpSettings::default()).expect("a socket");
    world.driver.watch(key(7), world.clients[7].as_fd(), false).expect("watched");
    world.echo(3_000);
    for client in &mut world.clients {
        client.connection().close(5, "enough", monotonic_ns());
    }
    world.turn_until(|world| world.server.connections() == 0 || world.ended.len() == 40);
    assert!(world.ended.values().all(|fault| matches!(fault, Fault::Closed { code: 5, .. })));
}

#[test]
fn nobody_at_the_address_is_told_as_with_tcp() {
    let unused = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = unused.local_addr().expect("an address");
    drop(unused);
    let certificates = issued(&["localhost"]);
    let config = QuicClientConfig::new(&client_settings(&certificates, 32)).expect("settings");
    let (now, mut scratch) = (monotonic_ns(), Scratch::default());
    let mut client =
        QuicClient::connect(&config, address, &UdpSettings::default(), now).expect("a socket");
    let mut driver = driver();
    driver.watch(key(0), client.as_fd(), false).expect("watched");
    client.flush(now, &mut scratch).expect("sent");
    let mut refused = None;
    for _ in 0..TURNS {
        driver.wait(Some(IDLE)).expect("wait");
        let Some(ready) = driver.next() else { continue };
        assert!(ready.hangup && ready.readable && ready.key == key(0), "{ready:?}");
        if let Err(error) = client.receive(monotonic_ns(), &mut scratch) {
            refused = Some(error);
            break;
        }
    }
    assert_eq!(refused, Some(NetError::Refused));
}

#[test]
fn a_certificate_that_is_not_trusted_is_told_with_the_remedy() {
    let mut world = World::new(Ipv4Addr::LOCALHOST.into(), UdpSettings::default(), 32);
    let other = self_signed(&["localhost"]);
    world.client_config = QuicClientConfig::new(&client_settings(&other, 32)).expect("settings");
    world.start(Ipv4Addr::LOCALHOST.into());
    world.turn_until(|world| !world.failed.is_empty());
    let fault = &world.failed[0];
    assert!(fault.to_string().contains("--cacert"), "{fault}");
    assert_eq!(fault.class(), NetErrorClass::Tls);
}

/// A server that echoes, and its clients, on one thread.
struct World {
    driver: Driver,
    server: QuicServer,
    clients: Vec<QuicClient>,
    client_config: QuicClientConfig,
    udp: UdpSettings,
    scratch: Scratch,
    connected: usize,
    /// What the server has yet to send back, by connection and stream.
    echoes: BTreeMap<(Handle, u64), (Vec<u8>, bool)>,
    /// What came back to each client, and whether that was all.
    back: Vec<(Vec<u8>, bool)>,
    failed: Vec<Fault>,
    ended: BTreeMap<Handle, Fault>,
}

impl World {
    fn new(ip: IpAddr, udp: UdpSettings, batch: usize) -> Self {
        let certificates = issued(&["localhost"]);
        let settings = QuicServerSettings {
            cert: certificates.cert.clone(),
            key: certificates.key.clone(),
            alpn: vec![Alpn::Http3],
            transport: TransportSettings { batch, ..TransportSettings::default() },
            ..QuicServerSettings::default()
        };
        let config = QuicServerConfig::new(&settings).expect("settings");
        let client = client_settings(&certificates, batch);
        let mut driver = driver();
        let server = QuicServer::bind(&config, (ip, 0).into(), false, &udp).expect("a socket");
        driver.watch(key(SERVER), server.as_fd(), false).expect("watched");
        Self {
            driver,
            server,
            clients: Vec::new(),
            client_config: QuicClientConfig::new(&client).expect("settings"),
            udp,
            scratch: Scratch::default(),
            connected: 0,
            echoes: BTreeMap::new(),
            back: Vec::new(),
            failed: Vec::new(),
            ended: BTreeMap::new(),
        }
    }

    fn address(&self, ip: IpAddr) -> SocketAddr {
        SocketAddr::new(ip, self.server.local_addr().expect("an address").port())
    }

    fn start(&mut self, ip: IpAddr) {
        let (peer, now) = (self.address(ip), monotonic_ns());
        let client = QuicClient::connect(&self.client_config, peer, &self.udp, now);
        let client = client.expect("a socket");
        let key = key(self.clients.len() as u32);
        self.driver.watch(key, client.as_fd(), false).expect("watched");
        self.clients.push(client);
        self.back.push((Vec::new(), false));
    }

    fn connect(&mut self, ip: IpAddr, count: usize) {
        for _ in 0..count {
            self.start(ip);
        }
        self.turn_until(|world| world.connected == count);
        for client in &mut self.clients {
            assert_eq!(client.connection().agreed(), Some(Alpn::Http3));
        }
    }

    /// Each client sends so many bytes on a stream of its own and gets them back.
    fn echo(&mut self, count: usize) {
        let bytes: Vec<u8> = (0..count).map(|at| (at % 251) as u8).collect();
        let now = monotonic_ns();
        for (client, back) in self.clients.iter_mut().zip(&mut self.back) {
            *back = (Vec::new(), false);
            let connection = client.connection();
            let id = connection.open(Direction::Bidirectional, now).expect("allowed");
            // Windows are far larger.
            assert_eq!(connection.write(id, &bytes, now), Ok(count));
            connection.finish(id).expect("open");
        }
        self.turn_until(|world| world.back.iter().all(|(_, is_all)| *is_all));
        assert!(self.back.iter().all(|(back, _)| *back == bytes));
    }

    fn turn_until(&mut self, done: impl Fn(&Self) -> bool) {
        for _ in 0..TURNS {
            if done(self) {
                return;
            }
            self.turn();
        }
        panic!("it does not end: {:?} {:?}", self.failed, self.server.counters());
    }

    fn turn(&mut self) {
        let now = monotonic_ns();
        let mut deadlines: Vec<Option<u64>> =
            self.clients.iter_mut().map(QuicClient::deadline).collect();
        deadlines.push(self.server.deadline());
        let due = deadlines
            .into_iter()
            .flatten()
            .min()
            .map_or(IDLE, |at| Duration::from_nanos(at.saturating_sub(now)));
        self.driver.wait(Some(due.min(IDLE))).expect("wait");
        while let Some(ready) = self.driver.next() {
            let now = monotonic_ns();
            if ready.key.slot == SERVER {
                while self.server.receive(now, &mut self.scratch).expect("a socket") {}
            } else {
                let client = &mut self.clients[ready.key.slot as usize];
                while client.receive(now, &mut self.scratch).expect("a server") {}
            }
        }
        self.clients_turn();
        self.server_turn();
    }

    fn clients_turn(&mut self) {
        let now = monotonic_ns();
        for (index, (client, back)) in self.clients.iter_mut().zip(&mut self.back).enumerate() {
            client.on_deadline(now);
            while let Some(event) = client.event(now) {
                match event {
                    Event::Connected(_) => self.connected += 1,
                    Event::Readable(id) => {
                        let read = client.connection().read(id, &mut back.0, usize::MAX);
                        back.1 |= read == Ok(Read::Finished);
                    }
                    Event::Ended(fault) => self.failed.push(fault),
                    _ => {}
                }
            }
            let flush = client.flush(now, &mut self.scratch).expect("a server");
            self.driver.watch(key(index as u32), client.as_fd(), !flush.done).expect("watched");
        }
    }

    fn server_turn(&mut self) {
        let now = monotonic_ns();
        self.server.on_deadline(now);
        while let Some((handle, event)) = self.server.event(now) {
            match event {
                Event::Readable(id) => {
                    let connection = self.server.connection(handle).expect("there");
                    let (bytes, is_all) = self.echoes.entry((handle, id)).or_default();
                    *is_all |= connection.read(id, bytes, usize::MAX) == Ok(Read::Finished);
                }
                Event::Ended(fault) => {
                    self.ended.insert(handle, fault);
                }
                _ => {}
            }
        }
        self.echoes.retain(|&(handle, id), (bytes, is_all)| {
            let Some(connection) = self.server.connection(handle) else { return false };
            echo_back(connection, id, bytes, now);
            if *is_all && bytes.is_empty() {
                connection.finish(id).expect("open");
            }
            !(*is_all && bytes.is_empty())
        });
        let flush = self.server.flush(now, &mut self.scratch).expect("a socket");
        self.driver.watch(key(SERVER), self.server.as_fd(), !flush.done).expect("watched");
    }
}

fn key(slot: u32) -> Key {
    Key { slot, generation: 1 }
}

fn echo_back(connection: &mut Connection, id: u64, bytes: &mut Vec<u8>, now: u64) {
    let count = connection.write(id, bytes, now).expect("open");
    bytes.drain(..count);
}

fn client_settings(certificates: &Issued, batch: usize) -> QuicClientSettings {
    QuicClientSettings {
        tls: ClientTlsSettings {
            ca_file: Some(certificates.ca.clone()),
            server_name: "localhost".into(),
            alpn: vec![Alpn::Http3],
            ..ClientTlsSettings::default()
        },
        transport: TransportSettings { batch, ..TransportSettings::default() },
        ..QuicClientSettings::default()
    }
}
