//! A server's side of many connections, without a socket.
//!
//! Knows one endpoint and its connections. Must not know sockets or clocks.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use quinn_proto::{ConnectionHandle, DatagramEvent, Endpoint, Incoming};

use crate::clock::instant;
use crate::quic::connection::{Connection, Event};
use crate::quic::counters::ServerCounters;
use crate::quic::datagram::{Arena, Arrival, Transmit};
use crate::quic::settings::{Common, QuicServerConfig};

/// Names a connection of a server. It is not used again for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle {
    /// Its index, for tables: small, and used again.
    pub slot: u32,
    /// Tells it from earlier ones of the same index.
    pub generation: u32,
}

/// All connections of a server: datagrams in, datagrams, events and a deadline out.
#[derive(Debug)]
pub struct ServerCore {
    endpoint: Box<Endpoint>,
    common: Common,
    retry: bool,
    most_connections: usize,
    slots: Vec<Slot>,
    /// Connections whose events were not all taken.
    eventful: VecDeque<u32>,
    /// Connections that may have something to send.
    sendable: VecDeque<u32>,
    /// When a connection is to be looked at. An entry counts only while its slot says the same.
    timers: BinaryHeap<Reverse<(u64, Handle)>>,
    /// What the endpoint itself says, to whom it has no connection with.
    replies: VecDeque<(Transmit, Box<[u8]>)>,
    /// Events of connections whose memory is gone.
    last: VecDeque<(Handle, Event)>,
    counters: ServerCounters,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    connection: Option<Connection>,
    is_eventful: bool,
    is_sendable: bool,
    /// The instant of its entry in the timers.
    armed: Option<u64>,
}

impl ServerCore {
    /// A server without connections.
    pub fn new(config: &QuicServerConfig) -> Self {
        let server = Some(Arc::clone(&config.server));
        Self {
            endpoint: Box::new(Endpoint::new(Arc::clone(&config.endpoint), server, true, None)),
            common: config.common.clone(),
            retry: config.retry,
            most_connections: config.most_connections,
            slots: Vec::new(),
            eventful: VecDeque::new(),
            sendable: VecDeque::new(),
            timers: BinaryHeap::new(),
            replies: VecDeque::new(),
            last: VecDeque::new(),
            counters: ServerCounters::default(),
        }
    }

    /// A connection, to open, write and read streams; what is written goes out with the next transmit.
    /// None when it is over and forgotten.
    pub fn connection(&mut self, handle: Handle) -> Option<&mut Connection> {
        let slot = self.slots.get(handle.slot as usize)?;
        if slot.generation != handle.generation || slot.connection.is_none() {
            return None;
        }
        self.touch(handle.slot);
        self.slots[handle.slot as usize].connection.as_mut()
    }

    /// Connections that are not over and forgotten.
    pub fn connections(&self) -> usize {
        self.endpoint.open_connections()
    }

    /// What was decided so far.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }

    /// Takes no new connection from here on: who comes is refused. Those that are there go on.
    pub fn refuse_new(&mut self) {
        self.most_connections = 0;
    }

    /// Datagrams that came together.
    pub fn receive(&mut self, arrival: &Arrival, bytes: &[u8], now: u64, arena: &mut Arena) {
        for datagram in bytes.chunks(arrival.stride.max(1)) {
            let owned = arena.own(datagram);
            let (from, to, mark) = (arrival.from, arrival.to, arrival.mark());
            let reply = &mut arena.reply;
            reply.clear();
            match self.endpoint.handle(instant(now), from, to, mark, owned, reply) {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some(connection) = self.slots[handle.0].connection.as_mut() {
                        connection.take(event);
                        self.touch(handle.0 as u32);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => self.decide(incoming, now, reply),
                Some(DatagramEvent::Response(made)) => self.reply(&made, reply),
                None => {}
            }
        }
    }

    /// What happened next on any connection, or None when that was all.
    pub fn event(&mut self, now: u64) -> Option<(Handle, Event)> {
        if let Some(last) = self.last.pop_front() {
            return Some(last);
        }
        while let Some(&index) = self.eventful.front() {
            let slot = &mut self.slots[index as usize];
            let handle = Handle { slot: index, generation: slot.generation };
            if let Some(event) = slot.connection.as_mut().and_then(|it| it.event(now)) {
                return Some((handle, event));
            }
            slot.is_eventful = false;
            self.eventful.pop_front();
        }
        None
    }

    /// Writes the next datagrams of any connection in place of what is in `out`. None: nothing now.
    pub fn transmit(&mut self, now: u64, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((transmit, bytes)) = self.replies.pop_front() {
            out.clear();
            out.extend_from_slice(&bytes);
            return Some(transmit);
        }
        while let Some(index) = self.sendable.pop_front() {
            let Some(connection) = self.slots[index as usize].connection.as_mut() else { continue };
            let handle = ConnectionHandle(index as usize);
            connection.exchange(handle, &mut self.endpoint);
            if let Some(transmit) = connection.transmit(now, out) {
                // The others have their turn before its next one.
                self.sendable.push_back(index);
                return Some(transmit);
            }
            connection.exchange(handle, &mut self.endpoint);
            self.slots[index as usize].is_sendable = false;
            self.settle(index, now);
        }
        None
    }

    /// When [`ServerCore::on_deadline`] is to be called. None: not before something else happens.
    pub fn deadline(&mut self) -> Option<u64> {
        while let Some(&Reverse((at, handle))) = self.timers.peek() {
            if self.is_armed(at, handle) {
                return Some(at);
            }
            self.timers.pop();
        }
        None
    }

    /// Does what is due. Too early is harmless.
    pub fn on_deadline(&mut self, now: u64) {
        while let Some(at) = self.deadline()
            && at <= now
        {
            let Some(Reverse((_, handle))) = self.timers.pop() else { break };
            let slot = &mut self.slots[handle.slot as usize];
            slot.armed = None;
            let Some(connection) = &mut slot.connection else { continue };
            if connection.deadline().is_some_and(|due| due <= now) {
                connection.on_deadline(now);
                self.touch(handle.slot);
            } else {
                self.arm(handle.slot);
            }
        }
    }

    /// Whether a client that wants a connection gets one.
    fn decide(&mut self, incoming: Incoming, now: u64, reply: &mut Vec<u8>) {
        reply.clear();
        if self.connections() >= self.most_connections {
            self.counters.refused += 1;
            let made = self.endpoint.refuse(incoming, reply);
            return self.reply(&made, reply);
        }
        if self.retry && !incoming.remote_address_validated() {
            self.counters.retried += 1;
            // It may be retried: its address was not proven.
            if let Ok(made) = self.endpoint.retry(incoming, reply) {
                self.reply(&made, reply);
            }
            return;
        }
        match self.endpoint.accept(incoming, instant(now), reply, None) {
            Ok((handle, connection)) => {
                self.counters.accepted += 1;
                if self.slots.len() <= handle.0 {
                    self.slots.resize_with(handle.0 + 1, Slot::default);
                }
                let connection = Connection::new(connection, &self.common, now);
                self.slots[handle.0].connection = Some(connection);
                self.touch(handle.0 as u32);
            }
            Err(failed) => {
                self.counters.failed += 1;
                if let Some(made) = failed.response {
                    self.reply(&made, reply);
                }
            }
        }
    }

    fn reply(&mut self, made: &quinn_proto::Transmit, bytes: &[u8]) {
        self.counters.replies += 1;
        self.replies.push_back((Transmit::of(made), bytes[..made.size].into()));
    }

    fn touch(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        if !std::mem::replace(&mut slot.is_eventful, true) {
            self.eventful.push_back(index);
        }
        if !std::mem::replace(&mut slot.is_sendable, true) {
            self.sendable.push_back(index);
        }
    }

    /// A connection has nothing to send: it sleeps, or is forgotten.
    fn settle(&mut self, index: u32, now: u64) {
        let slot = &mut self.slots[index as usize];
        let Some(connection) = &mut slot.connection else { return };
        if !connection.is_drained() {
            return self.arm(index);
        }
        let handle = Handle { slot: index, generation: slot.generation };
        while let Some(event) = connection.event(now) {
            self.last.push_back((handle, event));
        }
        slot.connection = None;
        slot.armed = None;
        slot.generation = slot.generation.wrapping_add(1);
    }

    /// Timers mostly move away: an entry that comes too early costs less than one per move.
    fn arm(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        let Some(due) = slot.connection.as_mut().and_then(Connection::deadline) else { return };
        if slot.armed.is_none_or(|armed| due < armed) {
            slot.armed = Some(due);
            let handle = Handle { slot: index, generation: slot.generation };
            self.timers.push(Reverse((due, handle)));
        }
    }

    fn is_armed(&self, at: u64, handle: Handle) -> bool {
        let slot = &self.slots[handle.slot as usize];
        slot.generation == handle.generation && slot.armed == Some(at)
    }

    /// Where a connection's peer is. None when it is over and forgotten.
    pub fn peer(&self, handle: Handle) -> Option<SocketAddr> {
        let slot = self.slots.get(handle.slot as usize)?;
        let connection = slot.connection.as_ref()?;
        (slot.generation == handle.generation).then(|| connection.peer())
    }
}
