//! Two cores joined by a simulated wire, moved from one instant to the next.
//!
//! Knows whose turn it is. Must not know what is said: that is `peers`', which each test has of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use wiretrial_net::quic::{
    Arena, ClientCore, ConnectionCounters, Early, Event, Fault, Handle, QuicClientConfig,
    QuicServerConfig, ServerCore, ServerCounters,
};

use crate::peers::{Client, DONE, Errand, Server, Tally};
use crate::wire::{Nature, Side, Wire};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

/// No run takes longer: a bound, so that a defect is a failure.
const LONGEST: u64 = 600 * SECOND;

/// Something that happens at an instant.
#[derive(Debug, Clone)]
pub(crate) enum Twist {
    /// The client's datagrams come from another port, and it does not know.
    Rebinds,
    /// The same, and it knows.
    Moves,
    ClientUpdatesKeys,
    ServerUpdatesKeys,
    /// The server is started anew, and knows nobody.
    Restarts(QuicServerConfig),
}

impl Twist {
    pub(crate) fn is_another_address(&self) -> bool {
        matches!(self, Self::Rebinds | Self::Moves)
    }
}

pub(crate) struct Plan {
    pub(crate) client: QuicClientConfig,
    pub(crate) server: QuicServerConfig,
    pub(crate) nature: Nature,
    pub(crate) errands: Vec<Errand>,
    pub(crate) twists: Vec<(u64, Twist)>,
    pub(crate) seed: u64,
    pub(crate) start: u64,
    /// How long the client waits with its errands.
    pub(crate) pause: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Why it ended before all was done; None: all was done.
    pub(crate) fault: Option<Fault>,
    /// How the server's connection ended.
    pub(crate) server_fault: Option<Fault>,
    pub(crate) early: Early,
    /// Whether the handshake resumed a session.
    pub(crate) resumed: Option<bool>,
    /// The client's.
    pub(crate) counters: ConnectionCounters,
    pub(crate) server: ServerCounters,
    /// What both ends counted.
    pub(crate) tally: Tally,
    pub(crate) lost: u64,
    pub(crate) garbled: u64,
    pub(crate) ended_at: u64,
    pub(crate) record: u64,
}

struct World {
    now: u64,
    wire: Wire,
    client: ClientCore,
    server: ServerCore,
    clients_address: SocketAddr,
    sender: Client,
    echoes: BTreeMap<Handle, Server>,
    arena: Arena,
    outcome: Outcome,
}

pub(crate) fn server_address() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 443))
}

/// Plays until both sides have ended, and the server has forgotten the connection.
pub(crate) fn play(plan: Plan) -> Outcome {
    let now = plan.start;
    let client = ClientCore::connect(&plan.client, server_address(), now).expect("settings");
    let mut world = World {
        now,
        wire: Wire::new(plan.nature, plan.seed),
        client,
        server: ServerCore::new(&plan.server),
        clients_address: SocketAddr::from(([192, 0, 2, 2], 40_000)),
        sender: Client::new(plan.errands, now + plan.pause),
        echoes: BTreeMap::new(),
        arena: Arena::default(),
        outcome: Outcome {
            fault: None,
            server_fault: None,
            early: Early::None,
            resumed: None,
            counters: ConnectionCounters::default(),
            server: ServerCounters::default(),
            tally: Tally::default(),
            lost: 0,
            garbled: 0,
            ended_at: 0,
            record: 0,
        },
    };
    let mut twists = plan.twists;
    twists.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    world.turn();
    loop {
        let twist = twists.last().map(|(at, _)| plan.start + at);
        let resumes = Some(world.sender.idle_until).filter(|at| *at > world.now);
        let deadlines = [world.client.deadline(), world.server.deadline()];
        let others = [world.wire.next_at(), twist, resumes];
        let Some(next) = deadlines.into_iter().chain(others).flatten().min() else { break };
        assert!(next < plan.start + LONGEST, "it goes on and on: {:?}", world.outcome);
        world.now = world.now.max(next);
        if twist.is_some_and(|at| at <= world.now)
            && let Some((_, twist)) = twists.pop()
        {
            world.twist(twist);
        }
        world.turn();
        if world.client.connection().is_drained() && world.server.connections() == 0 {
            break;
        }
    }
    world.conclude()
}

impl World {
    fn turn(&mut self) {
        while let Some(hop) = self.wire.take(self.now) {
            let (arrival, now) = (hop.arrival(), self.now);
            match hop.to {
                Side::Server => self.server.receive(&arrival, &hop.bytes, now, &mut self.arena),
                // What was sent to an old address is lost.
                Side::Client if hop.client == self.clients_address => {
                    self.client.receive(&arrival, &hop.bytes, now, &mut self.arena);
                }
                Side::Client => {}
            }
        }
        self.client.on_deadline(self.now);
        self.server.on_deadline(self.now);
        self.client_acts();
        self.server_acts();
        self.transmit();
    }

    fn client_acts(&mut self) {
        let now = self.now;
        while let Some(event) = self.client.event(now) {
            self.outcome.resumed = self.client.resumed();
            let connection = self.client.connection();
            match &event {
                Event::Connected(early) => {
                    self.sender.is_connected = true;
                    self.outcome.early = *early;
                    if *early == Early::Refused {
                        self.sender.forget();
                    }
                }
                Event::Ended(fault) => {
                    assert_eq!(self.outcome.fault, None, "ended twice");
                    self.outcome.fault = Some(fault.clone());
                    self.outcome.counters = connection.counters(now);
                    self.outcome.ended_at = now;
                }
                event => self.sender.heard(event, connection),
            }
        }
        let connection = self.client.connection();
        self.sender.push(connection, now);
        if self.sender.is_done() && !connection.is_closed() {
            self.outcome.counters = connection.counters(now);
            self.outcome.ended_at = now;
            assert_eq!(connection.unsent(), 0);
            connection.close(DONE, "done", now);
        }
    }

    fn server_acts(&mut self) {
        let now = self.now;
        while let Some((handle, event)) = self.server.event(now) {
            let echo = self.echoes.entry(handle).or_default();
            if let Event::Ended(fault) = &event {
                self.outcome.server_fault = Some(fault.clone());
            } else if let Some(connection) = self.server.connection(handle) {
                echo.heard(&event, connection, now);
            }
        }
    }

    fn transmit(&mut self) {
        let mut out = Vec::new();
        let (client, now) = (self.clients_address, self.now);
        while let Some(transmit) = self.client.transmit(now, &mut out) {
            assert_eq!((transmit.length, transmit.to), (out.len(), server_address()));
            self.wire.send(now, Side::Server, (client, client), &transmit, &out);
        }
        while let Some(transmit) = self.server.transmit(now, &mut out) {
            assert_eq!(transmit.length, out.len());
            let to = (server_address(), transmit.to);
            self.wire.send(now, Side::Client, to, &transmit, &out);
        }
    }

    fn twist(&mut self, twist: Twist) {
        let new_port = self.clients_address.port() + 1;
        match twist {
            Twist::Rebinds => self.clients_address.set_port(new_port),
            Twist::Moves => {
                self.clients_address.set_port(new_port);
                self.client.connection().address_changed();
            }
            Twist::ClientUpdatesKeys => self.client.connection().update_keys(),
            Twist::ServerUpdatesKeys => {
                for handle in self.echoes.keys() {
                    if let Some(connection) = self.server.connection(*handle) {
                        connection.update_keys();
                    }
                }
            }
            Twist::Restarts(config) => {
                self.server = ServerCore::new(&config);
                self.echoes.clear();
            }
        }
    }

    fn conclude(mut self) -> Outcome {
        let is_closed = self.client.connection().is_closed();
        assert!(is_closed, "nothing is to happen, and nothing has ended: {:?}", self.outcome);
        self.outcome.server = self.server.counters();
        self.outcome.tally = Tally::of(&self.sender, self.echoes.values());
        self.outcome.lost = self.wire.lost;
        self.outcome.garbled = self.wire.garbled;
        self.wire.note(self.now);
        self.outcome.record = self.wire.record;
        self.outcome
    }
}
