//! HTTP/3's entrances of one thread: UDP sockets, each with all of its connections.
//!
//! Knows whose an event is, and when a socket is read and written. Must not know requests, nor other
//! threads.

mod connection;

use std::mem;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_net::quic::{
    Event, Handle, QuicServer, QuicServerConfig, Scratch as Datagrams, Share, UdpSettings,
};
use wiretrial_net::{Driver, Key, NetError, Ready};
use wiretrial_proto::Scratch;
use wiretrial_proto::http3::ErrorCode;

use crate::connection::Resources;
use crate::hub::{Dispatcher, Member, Notice};
use crate::shared::Shared;
use crate::slab::Slab;
use crate::stats::Counters;
use crate::timers::Timers;

use self::connection::{Http3Connection, Turn};

/// Connections of HTTP/3 have slots from here on, which no socket of the driver has.
const FIRST: u32 = 1 << 30;
/// The kernel's buffer of a socket, bytes: all clients of a thread share it.
const RECEIVE_BUFFER: usize = 4 << 20;

/// The sockets of a thread for HTTP/3, and the connections on them.
#[derive(Debug)]
pub(crate) struct Doors {
    all: Vec<Door>,
    connections: Slab<Http3Connection>,
    /// Where what comes on a stream is read.
    input: Vec<u8>,
}

#[derive(Debug)]
struct Door {
    server: QuicServer,
    key: Key,
    datagrams: Datagrams,
    /// By the slots of handles: a generation, and its connection; none: it is over here.
    known: Vec<Option<(u32, Option<Key>)>>,
    /// The driver tells when the socket takes more.
    is_full: bool,
    /// What went through it, as far as it was counted.
    bytes: (u64, u64),
}

/// What connections use of their thread.
pub(crate) struct Premises<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) counters: &'a Counters,
    pub(crate) staging: &'a mut Vec<u8>,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) dispatcher: &'a mut Dispatcher,
    pub(crate) timers: &'a mut Timers,
}

/// Is this key one of a connection of HTTP/3?
pub(crate) fn is_key(key: Key) -> bool {
    key.slot >= FIRST
}

impl Doors {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { all: Vec::new(), connections: Slab::new(FIRST), input: Vec::new() }
    }

    /// Opens a socket, for the thread with this index of so many.
    pub(crate) fn open(
        &mut self,
        config: &QuicServerConfig,
        address: SocketAddr,
        (index, threads): (usize, usize),
        key: Key,
        driver: &mut Driver,
    ) -> Result<(), NetError> {
        let udp = UdpSettings { receive_buffer: Some(RECEIVE_BUFFER), ..UdpSettings::default() };
        let several = threads > 1;
        if several && index == 0 {
            // As with listeners: one alone tells whether another server is there.
            drop(QuicServer::bind(config, address, false, &udp)?);
        }
        let server = match (u8::try_from(index), u8::try_from(threads)) {
            (Ok(index), Ok(of)) if several => {
                QuicServer::bind_share(config, address, Share { index, of }, &udp)?
            }
            _ => QuicServer::bind(config, address, several, &udp)?,
        };
        driver.watch(key, server.as_fd(), false)?;
        self.all.push(Door {
            server,
            key,
            datagrams: Datagrams::default(),
            known: Vec::new(),
            is_full: false,
            bytes: (0, 0),
        });
        Ok(())
    }

    /// The driver reports that datagrams came.
    pub(crate) fn on_ready(&mut self, ready: Ready) -> Result<(), NetError> {
        let Some(door) = self.all.iter_mut().find(|door| door.key == ready.key) else {
            return Ok(());
        };
        if ready.readable || ready.hangup {
            // Where there is more, the driver tells it again.
            door.server.receive(monotonic_ns(), &mut door.datagrams)?;
        }
        Ok(())
    }

    /// An alarm of a connection is due.
    pub(crate) fn on_alarm(&mut self, key: Key, premises: &mut Premises<'_>) {
        self.turn(key, premises, Http3Connection::on_alarm);
    }

    /// The server tells a connection something.
    pub(crate) fn on_notice(&mut self, key: Key, notice: &Notice, premises: &mut Premises<'_>) {
        self.turn(key, premises, |it, turn| it.on_notice(notice, turn));
    }

    /// Does what is due, has connections answer, and sends.
    pub(crate) fn finish_round(
        &mut self,
        driver: &mut Driver,
        premises: &mut Premises<'_>,
    ) -> Result<(), NetError> {
        for index in 0..self.all.len() {
            self.all[index].server.on_deadline(monotonic_ns());
            self.take_events(index, premises);
            loop {
                self.all[index].flush(driver, premises.counters)?;
                // What has sent its last is forgotten, and tells so.
                if !self.take_events(index, premises) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// When a connection of QUIC has something to do by itself.
    pub(crate) fn next_due(&mut self) -> Option<u64> {
        self.all.iter_mut().filter_map(|door| door.server.deadline()).min()
    }

    /// Connections that are not over.
    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// The server stops: nobody is let in, and who has all answers takes leave.
    pub(crate) fn leave(&mut self, premises: &mut Premises<'_>) {
        for door in &mut self.all {
            door.server.refuse_new();
        }
        for key in self.connections.keys() {
            self.turn(key, premises, Http3Connection::leave);
        }
    }

    /// Closes all connections.
    pub(crate) fn close(&mut self, driver: &mut Driver, premises: &mut Premises<'_>) {
        for key in self.connections.keys() {
            self.end(key, ErrorCode::NoError, premises);
        }
        for door in &mut self.all {
            // A client that does not hear it finds out by itself.
            let _ = door.flush(driver, premises.counters);
        }
    }

    /// False: nothing happened at this door.
    fn take_events(&mut self, door: usize, premises: &mut Premises<'_>) -> bool {
        let mut happened = false;
        while let Some((handle, event)) = self.all[door].server.event(monotonic_ns()) {
            self.on_event(door, handle, &event, premises);
            happened = true;
        }
        happened
    }

    fn on_event(
        &mut self,
        door: usize,
        handle: Handle,
        event: &Event,
        premises: &mut Premises<'_>,
    ) {
        if !matches!(event, Event::Ended(_)) {
            if let Some(key) = self.key_of(door, handle, premises) {
                self.turn(key, premises, |it, turn| it.on_event(event, turn));
            }
        } else if let Some(key) = self.all[door].known(handle) {
            self.dismiss(key, premises);
        }
    }

    /// Whose this handle is: a connection's that is known, or a new one's.
    fn key_of(&mut self, door: usize, handle: Handle, premises: &Premises<'_>) -> Option<Key> {
        let slot = handle.slot as usize;
        let known = &mut self.all[door].known;
        if known.len() <= slot {
            known.resize(slot + 1, None);
        }
        if let Some((generation, key)) = known[slot]
            && generation == handle.generation
        {
            return key;
        }
        let key = self.connections.next_key()?;
        self.connections.insert(Http3Connection::new(door, handle, premises.shared));
        known[slot] = Some((handle.generation, Some(key)));
        premises.counters.add_accepted();
        Some(key)
    }

    /// Gives a connection its turn, and does what comes of it.
    fn turn(
        &mut self,
        key: Key,
        premises: &mut Premises<'_>,
        act: impl FnOnce(&mut Http3Connection, &mut Turn<'_>),
    ) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let (door, handle) = connection.place();
        let Some(quic) = self.all[door].server.connection(handle) else {
            return self.dismiss(key, premises);
        };
        let now = monotonic_ns();
        let (input, resources) = (&mut self.input, premises.resources(key));
        let mut turn = Turn { quic, now, input, resources };
        act(connection, &mut turn);
        let ending = connection.go_on(&mut turn);
        let alarm = connection.take_alarm();
        if let Some(code) = ending {
            self.end(key, code, premises);
        } else if let Some(due) = alarm {
            premises.timers.push(due, key);
        }
    }

    /// Ends a connection. What it has said goes out before, as far as the client takes it.
    fn end(&mut self, key: Key, code: ErrorCode, premises: &mut Premises<'_>) {
        if let Some(connection) = self.connections.get_mut(key) {
            let (door, handle) = connection.place();
            let Door { server, datagrams, .. } = &mut self.all[door];
            let now = monotonic_ns();
            // What is wrong with the socket is told by the next flush.
            let _ = server.flush(now, datagrams);
            if let Some(quic) = server.connection(handle).filter(|quic| !quic.is_closed()) {
                quic.close(code as u64, "", now);
            }
        }
        self.dismiss(key, premises);
    }

    /// A connection is over.
    fn dismiss(&mut self, key: Key, premises: &mut Premises<'_>) {
        let Some(connection) = self.connections.remove(key) else { return };
        premises.resources(key).member.leave_all(connection.memberships());
        let (door, handle) = connection.place();
        if let Some(known) = self.all[door].known.get_mut(handle.slot as usize) {
            *known = Some((handle.generation, None));
        }
        premises.counters.add_closed();
    }
}

impl Door {
    /// The connection with this handle, where it is one.
    fn known(&self, handle: Handle) -> Option<Key> {
        let (generation, key) = (*self.known.get(handle.slot as usize)?)?;
        key.filter(|_| generation == handle.generation)
    }

    fn flush(&mut self, driver: &mut Driver, counters: &Counters) -> Result<(), NetError> {
        let flush = self.server.flush(monotonic_ns(), &mut self.datagrams)?;
        let was_full = mem::replace(&mut self.is_full, !flush.done);
        if was_full != self.is_full {
            driver.watch(self.key, self.server.as_fd(), self.is_full)?;
        }
        let bytes = self.server.bytes();
        counters.add_bytes(mem::replace(&mut self.bytes, bytes), bytes);
        Ok(())
    }
}

impl Premises<'_> {
    fn resources(&mut self, key: Key) -> Resources<'_> {
        Resources {
            shared: self.shared,
            counters: self.counters,
            staging: self.staging,
            scratch: self.scratch,
            member: Member { hub: &self.shared.hub, dispatcher: self.dispatcher, key },
        }
    }
}
