//! Servers of HTTP/3 that echo: one for each connection, so that numbers which follow from one seed meet nobody else's.
//!
//! Knows what came and what is due. Must not know the worker.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::PoisonError;

use wiretrial_net::quic::{
    Arena, Arrival, Connection, Event, Handle, QuicServerConfig, Read, ServerCore,
};
use wiretrial_net::simulation::{Closed, Parcel, Peers, Random, Wires};
use wiretrial_net::{Key, NetError};
use wiretrial_proto::Scratch;
use wiretrial_proto::http3::{Action, Http3Event, Http3Limits, Http3Server, Outgoing};

use super::path::Path;
use crate::simulation::facts::Witness;

/// Of the tokens of calls: the server wants to be looked at. All others are datagrams.
const DUE: u64 = u64::MAX;
/// Read at a time.
const MOST_READ: usize = 4096;

/// All servers.
pub(super) struct Host {
    config: QuicServerConfig,
    path: Path,
    random: Random,
    /// Then all servers are started anew, and know nobody.
    restarts_at: Option<u64>,
    witness: Witness,
    /// By socket.
    lines: BTreeMap<u32, Line>,
    /// Datagrams on their way to a server, by the tokens of their calls.
    on_way: Vec<Option<(SocketAddr, u8, Vec<u8>)>>,
    /// What was answered.
    answered: BTreeSet<Vec<u8>>,
}

/// A server and its client.
struct Line {
    server: ServerCore,
    arena: Arena,
    talks: BTreeMap<Handle, Talk>,
    /// The client's first port, and when it began.
    port: u16,
    began: u64,
    /// When it is to be looked at, as far as that was asked for.
    due: Option<u64>,
}

impl Host {
    pub(super) fn new(
        config: QuicServerConfig,
        path: Path,
        seed: u64,
        restarts_at: Option<u64>,
        witness: Witness,
    ) -> Self {
        Self {
            config,
            path,
            random: Random::new(seed),
            restarts_at,
            witness,
            lines: BTreeMap::new(),
            on_way: Vec::new(),
            answered: BTreeSet::new(),
        }
    }

    /// Has a server do what there is to do.
    fn turn(&mut self, wires: &mut Wires, socket: u32) {
        let now = wires.now();
        let Self { path, random, lines, answered, witness, .. } = self;
        let Some(line) = lines.get_mut(&socket) else { return };
        let facts = &mut *witness.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((handle, event)) = line.server.event(now) {
            let Some(connection) = line.server.connection(handle) else { continue };
            let talk = line.talks.entry(handle).or_insert_with(Talk::new);
            for content in talk.hear(&event, connection, now) {
                facts.right += 1;
                facts.misunderstood += u64::from(!answered.insert(content));
            }
        }
        let (client, mut out) = (line.client(now, path), Vec::new());
        while let Some(transmit) = line.server.transmit(now, &mut out) {
            // Where the client was before, nobody is.
            let out = if transmit.to == client { &out[..] } else { &[] };
            for datagram in out.chunks(transmit.stride.max(1)) {
                for (after, bytes) in path.carry(now, datagram, random) {
                    let (stride, ecn) = (bytes.len(), transmit.ecn);
                    wires.hand(socket, after, Parcel { bytes, stride, ecn });
                }
            }
        }
        if let Some(at) = line.server.deadline()
            && line.due.is_none_or(|due| at < due)
        {
            line.due = Some(at);
            wires.call(socket, at.saturating_sub(now), DUE);
        }
    }
}

impl Line {
    fn new(config: &QuicServerConfig, socket: u32, now: u64) -> Self {
        Self {
            server: ServerCore::new(config),
            arena: Arena::default(),
            talks: BTreeMap::new(),
            port: 1_024 + socket as u16 * 2,
            began: now,
            due: None,
        }
    }

    /// Where the client is.
    fn client(&self, now: u64, path: &Path) -> SocketAddr {
        let has_moved = path.moves_after.is_some_and(|after| now >= self.began + after);
        SocketAddr::from(([192, 0, 2, 2], self.port + u16::from(has_moved)))
    }
}

impl Peers for Host {
    fn admit(&mut self, _: &mut Wires, _: Key) -> Result<(), NetError> {
        self.witness.lock().unwrap_or_else(PoisonError::into_inner).connects += 1;
        Ok(())
    }

    fn connecting(&mut self, _: &mut Wires, _: u32, _: u32, _: Key) {
        unreachable!("nothing goes over TCP");
    }

    fn received(&mut self, _: &mut Wires, _: u32) {
        unreachable!("nothing goes over TCP");
    }

    fn closed(&mut self, _: &mut Wires, _: u32, _: Closed) {}

    fn parcel(&mut self, wires: &mut Wires, socket: u32, parcel: Parcel) {
        let now = wires.now();
        let Self { config, path, random, lines, on_way, .. } = self;
        let line = lines.entry(socket).or_insert_with(|| Line::new(config, socket, now));
        let from = line.client(now, path);
        for datagram in parcel.bytes.chunks(parcel.stride) {
            for (after, bytes) in path.carry(now, datagram, random) {
                wires.call(socket, after, on_way.len() as u64);
                on_way.push(Some((from, parcel.ecn, bytes)));
            }
        }
    }

    fn called(&mut self, wires: &mut Wires, socket: u32, token: u64) {
        let now = wires.now();
        if self.restarts_at.take_if(|at| *at <= now).is_some() {
            for line in self.lines.values_mut() {
                line.server = ServerCore::new(&self.config);
                line.talks.clear();
            }
        }
        let Some(line) = self.lines.get_mut(&socket) else { return };
        if token == DUE {
            line.due = line.due.filter(|due| *due > now);
            line.server.on_deadline(now);
        } else if let Some((from, ecn, bytes)) = self.on_way[token as usize].take() {
            let (length, stride) = (bytes.len(), bytes.len());
            let arrival = Arrival { length, stride, from, to: None, ecn };
            line.server.receive(&arrival, &bytes, now, &mut line.arena);
        }
        self.turn(wires, socket);
    }
}

/// A conversation on one connection.
struct Talk {
    session: Http3Server,
    out: Outgoing,
    scratch: Scratch,
    /// What has come of requests, by stream.
    contents: BTreeMap<u64, Vec<u8>>,
}

impl Talk {
    fn new() -> Self {
        let (mut session, mut out) = (Http3Server::new(Http3Limits::default()), Outgoing::new());
        session.start(&mut out);
        Self { session, out, scratch: Scratch::new(), contents: BTreeMap::new() }
    }

    /// Gives the content of requests that were answered.
    fn hear(&mut self, event: &Event, connection: &mut Connection, now: u64) -> Vec<Vec<u8>> {
        let mut answered = Vec::new();
        match *event {
            Event::Readable(stream) => self.read(stream, connection, &mut answered),
            Event::Stopped(stream, code) => {
                let told = self.session.stop_sending(stream, code, &mut self.out);
                told.expect("a client that keeps the rules");
                self.contents.remove(&stream);
                // It may have ended just now.
                let _ = connection.reset(stream, code, now);
            }
            _ => {}
        }
        for action in self.out.actions() {
            // What is about a stream that is over means nothing.
            let _ = match action {
                Action::Write { stream, bytes, fin } => connection.send(stream, bytes, fin, now),
                Action::Reset { stream, code } => connection.reset(stream, code, now),
                Action::Stop { stream, code } => connection.stop(stream, code),
                Action::Close { code } => panic!("the server gives up: {code:#x}"),
            };
        }
        self.out.clear();
        answered
    }

    fn read(&mut self, stream: u64, connection: &mut Connection, answered: &mut Vec<Vec<u8>>) {
        let Self { session, out, scratch, contents } = self;
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let Ok(read) = connection.read(stream, &mut bytes, MOST_READ) else { return };
            if let Read::Reset(_) = read {
                contents.remove(&stream);
                session.reset(stream, out).expect("a client that keeps the rules");
                return;
            }
            let (fin, mut offset) = (read == Read::Finished, 0);
            loop {
                let step = session.receive(stream, &bytes[offset..], fin, scratch, out);
                let step = step.expect("a client that keeps the rules");
                offset += step.consumed;
                match step.event {
                    None => break,
                    Some(Http3Event::Request { .. }) => drop(contents.insert(stream, Vec::new())),
                    Some(Http3Event::Chunk { piece, .. }) => {
                        contents.entry(stream).or_default().extend_from_slice(piece);
                    }
                    Some(Http3Event::End { .. }) => {
                        let content = contents.remove(&stream).unwrap_or_default();
                        session.respond(stream, 200, &[], false, out);
                        session.content(stream, &content, true, out);
                        answered.push(content);
                    }
                    Some(_) => {}
                }
            }
            if read != Read::More {
                return;
            }
        }
    }
}
