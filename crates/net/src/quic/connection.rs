//! One connection of QUIC: its streams, what happened on it and how long it was held up.
//!
//! Knows quinn-proto's connection. Must not know sockets, nor who else is at the same endpoint.

mod sending;

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use quinn_proto::crypto::rustls::HandshakeData;
use quinn_proto::{
    ConnectionEvent, ConnectionHandle, Dir, Endpoint, ReadError, Side, StreamEvent, StreamId,
    VarInt, WriteError,
};

use crate::clock::{instant, since_origin};
use crate::congestion::Congestion;
use crate::quic::counters::ConnectionCounters;
use crate::quic::datagram::Transmit;
use crate::quic::fault::Fault;
use crate::quic::settings::{Common, number};
use crate::tls::Alpn;

use sending::Waiting;

/// Who sends on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Both sides.
    Bidirectional,
    /// Who opened it.
    Unidirectional,
}

impl Direction {
    const ALL: [Self; 2] = [Self::Bidirectional, Self::Unidirectional];

    const fn dir(self) -> Dir {
        match self {
            Self::Bidirectional => Dir::Bi,
            Self::Unidirectional => Dir::Uni,
        }
    }

    const fn of(dir: Dir) -> Self {
        match dir {
            Dir::Bi => Self::Bidirectional,
            Dir::Uni => Self::Unidirectional,
        }
    }

    /// Who sends on the stream with this number.
    const fn of_stream(id: u64) -> Self {
        if id & 2 == 0 { Self::Bidirectional } else { Self::Unidirectional }
    }
}

/// What became of bytes that a client sent before the handshake's end (0-RTT).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Early {
    /// Nothing could be sent so early.
    None,
    /// The server took them.
    Accepted,
    /// The server refused them: all streams are gone, as if they had never been. Open them again, with the
    /// same numbers.
    Refused,
}

/// What happened on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The handshake is done.
    Connected(Early),
    /// There is something to read on a stream, or it has ended. The peer may just have opened it.
    Readable(u64),
    /// A stream that could not be written to may be able to take more.
    Writable(u64),
    /// The peer wants no more of a stream, with its application's code. Reset it.
    Stopped(u64, u64),
    /// The peer has all bytes of a stream that was finished.
    Finished(u64),
    /// Streams can be opened where none could be.
    Room(Direction),
    /// The connection is over. Told once, and nothing after it.
    Ended(Fault),
}

/// How a read ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// Nothing more now; [`Event::Readable`] tells when.
    Blocked,
    /// As much was read as was asked for, and there may be more: read again, nothing else tells.
    More,
    /// The peer has finished the stream, and all was read.
    Finished,
    /// The peer gave the stream up, with its application's code.
    Reset(u64),
}

/// There is no such stream to read from or to write to: never opened, or over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream is not open")]
pub struct Gone;

/// One connection.
#[derive(Debug)]
pub struct Connection {
    inner: Box<quinn_proto::Connection>,
    alpn: Arc<[Alpn]>,
    congestion: Congestion,
    batch: usize,
    /// Whether the peer has opened streams that were not told yet, by direction.
    opened: [bool; 2],
    held_up: HeldUp,
    waiting: Waiting,
    agreed: Option<Alpn>,
    began: u64,
    handshake_ns: u64,
    /// The endpoint was told that nothing of it is left.
    is_forgotten: bool,
}

/// How long writing and opening had to wait.
#[derive(Debug, Default)]
struct HeldUp {
    /// Streams that cannot be written to.
    streams: BTreeSet<u64>,
    since: u64,
    write_ns: u64,
    /// Since when streams were to be opened in vain, by direction.
    opening: [Option<u64>; 2],
    open_ns: u64,
}

impl Connection {
    pub(super) fn new(inner: quinn_proto::Connection, common: &Common, now: u64) -> Self {
        Self {
            inner: Box::new(inner),
            alpn: Arc::clone(&common.alpn),
            congestion: common.congestion,
            batch: common.batch,
            opened: [false; 2],
            held_up: HeldUp::default(),
            waiting: Waiting::default(),
            agreed: None,
            began: now,
            handshake_ns: 0,
            is_forgotten: false,
        }
    }

    /// What happened next, or None when that was all.
    pub fn event(&mut self, now: u64) -> Option<Event> {
        loop {
            for direction in Direction::ALL {
                if self.opened[direction as usize] {
                    if let Some(id) = self.inner.streams().accept(direction.dir()) {
                        return Some(Event::Readable(id.into()));
                    }
                    self.opened[direction as usize] = false;
                }
            }
            match self.inner.poll()? {
                quinn_proto::Event::HandshakeDataReady => self.agreed = self.protocol(),
                quinn_proto::Event::Connected => return Some(self.connected(now)),
                quinn_proto::Event::ConnectionLost { reason } => {
                    self.held_up.end(now);
                    self.forget_streams();
                    return Some(Event::Ended(Fault::of(reason, &self.alpn)));
                }
                quinn_proto::Event::Stream(event) => {
                    if let Some(event) = self.stream_event(&event, now) {
                        return Some(event);
                    }
                }
                quinn_proto::Event::DatagramReceived | quinn_proto::Event::DatagramsUnblocked => {}
            }
        }
    }

    /// The handshake has yet to end. Streams can be opened before that where [`Connection::is_early`].
    pub fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    /// What is sent now goes out before the handshake's end, under the keys of an earlier session, and
    /// may be refused.
    pub fn is_early(&self) -> bool {
        self.inner.is_handshaking() && self.inner.has_0rtt()
    }

    /// It has ended, on either side.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Nothing of it is left to do; its memory may go.
    pub fn is_drained(&self) -> bool {
        self.inner.is_drained()
    }

    /// The application protocol that both ends agreed on. None before that.
    pub fn agreed(&self) -> Option<Alpn> {
        self.agreed
    }

    /// Where the peer is now.
    pub fn peer(&self) -> std::net::SocketAddr {
        self.inner.remote_address()
    }

    /// Writes as much as windows allow, and says how much that is. Where it is less than all,
    /// [`Event::Writable`] tells when to go on. Nothing is written while bytes that were
    /// [sent](Connection::send) on the stream wait.
    ///
    /// # Errors
    /// When the stream was not opened, is finished or reset, or the peer stopped it.
    pub fn write(&mut self, id: u64, bytes: &[u8], now: u64) -> Result<usize, Gone> {
        if self.waits(id, false) { Ok(0) } else { self.put(id, bytes, now) }
    }

    /// Nothing follows on this stream.
    ///
    /// # Errors
    /// As [`Connection::write`].
    pub fn finish(&mut self, id: u64) -> Result<(), Gone> {
        if self.waits(id, true) { Ok(()) } else { self.end(id) }
    }

    /// Gives up sending on a stream, with the application's code.
    ///
    /// # Errors
    /// When the stream was not opened or is over.
    pub fn reset(&mut self, id: u64, code: u64, now: u64) -> Result<(), Gone> {
        let stream = self.sending(id)?;
        self.held_up.free(id, now);
        self.drop_rest(id);
        self.inner.send_stream(stream).reset(number(code)).map_err(|_| Gone)
    }

    /// Asks the peer to send no more on a stream, with the application's code. What comes is dropped.
    ///
    /// # Errors
    /// When the stream was not opened or is over.
    pub fn stop(&mut self, id: u64, code: u64) -> Result<(), Gone> {
        let stream = self.receiving(id)?;
        self.inner.recv_stream(stream).stop(number(code)).map_err(|_| Gone)
    }

    /// Appends what came on a stream to `out`, in order and no more than `most` bytes.
    ///
    /// # Errors
    /// When the stream was not opened, its end was told, or it was stopped.
    pub fn read(&mut self, id: u64, out: &mut Vec<u8>, most: usize) -> Result<Read, Gone> {
        let stream = self.receiving(id)?;
        let mut stream = self.inner.recv_stream(stream);
        let mut chunks = stream.read(true).map_err(|_| Gone)?;
        let mut left = most;
        let ended = loop {
            if left == 0 {
                break Read::More;
            }
            match chunks.next(left) {
                Ok(Some(chunk)) => {
                    left -= chunk.bytes.len();
                    out.extend_from_slice(&chunk.bytes);
                }
                Ok(None) => break Read::Finished,
                Err(ReadError::Blocked) => break Read::Blocked,
                Err(ReadError::Reset(code)) => break Read::Reset(code.into_inner()),
            }
        };
        // The next transmit carries what the window has become.
        let _ = chunks.finalize();
        Ok(ended)
    }

    /// Ends the connection at once, with the application's code and words for people. What is not
    /// acknowledged may be lost. No event tells it.
    pub fn close(&mut self, code: u64, reason: &str, now: u64) {
        self.held_up.end(now);
        self.forget_streams();
        self.inner.close(instant(now), number(code), Bytes::copy_from_slice(reason.as_bytes()));
    }

    /// Sends under new keys from here on. Nothing happens before the handshake's end, and while an earlier
    /// update is under way.
    pub fn update_keys(&mut self) {
        self.inner.force_key_update();
    }

    /// Tells that this side has another address now, so that the peer hears of it. Nothing happens once
    /// the connection has ended.
    pub fn address_changed(&mut self) {
        if !self.inner.is_closed() {
            self.inner.local_address_changed();
        }
    }

    /// What was counted so far.
    pub fn counters(&self, now: u64) -> ConnectionCounters {
        let (write_blocked_ns, open_blocked_ns) = self.held_up.totals(now);
        ConnectionCounters {
            congestion: self.congestion.name(),
            write_blocked_ns,
            open_blocked_ns,
            handshake_ns: self.handshake_ns,
            ..ConnectionCounters::of(&self.inner.stats())
        }
    }

    /// When [`Connection::on_deadline`] is to be called.
    pub(super) fn deadline(&mut self) -> Option<u64> {
        self.inner.poll_timeout().map(since_origin)
    }

    pub(super) fn on_deadline(&mut self, now: u64) {
        self.inner.handle_timeout(instant(now));
    }

    pub(super) fn take(&mut self, event: ConnectionEvent) {
        self.inner.handle_event(event);
    }

    /// Has the endpoint know what it must, and the connection what that asks for.
    pub(super) fn exchange(&mut self, handle: ConnectionHandle, endpoint: &mut Endpoint) {
        while let Some(event) = self.inner.poll_endpoint_events() {
            // The endpoint has forgotten it: whatever it says afterwards is about nobody.
            if self.is_forgotten {
                continue;
            }
            self.is_forgotten = event.is_drained();
            if let Some(event) = endpoint.handle_event(handle, event) {
                self.inner.handle_event(event);
            }
        }
    }

    /// Writes the next datagrams, as many as go to the kernel at once, in place of what is in `out`.
    pub(super) fn transmit(&mut self, now: u64, out: &mut Vec<u8>) -> Option<Transmit> {
        out.clear();
        let made = self.inner.poll_transmit(instant(now), self.batch, out)?;
        Some(Transmit::of(&made))
    }

    fn put(&mut self, id: u64, bytes: &[u8], now: u64) -> Result<usize, Gone> {
        let stream = self.sending(id)?;
        let mut written = 0;
        while written < bytes.len() {
            match self.inner.send_stream(stream).write(&bytes[written..]) {
                Ok(count) => written += count,
                Err(WriteError::Blocked) => {
                    if !self.inner.is_closed() {
                        self.held_up.begin(id, now);
                    }
                    break;
                }
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return Err(Gone),
            }
        }
        Ok(written)
    }

    fn end(&mut self, id: u64) -> Result<(), Gone> {
        let stream = self.sending(id)?;
        self.inner.send_stream(stream).finish().map_err(|_| Gone)
    }

    fn connected(&mut self, now: u64) -> Event {
        self.agreed = self.agreed.or_else(|| self.protocol());
        self.handshake_ns = now.saturating_sub(self.began);
        let is_client = self.inner.side() == Side::Client;
        let early = match (is_client && self.inner.has_0rtt(), self.inner.accepted_0rtt()) {
            (false, _) => Early::None,
            (true, true) => Early::Accepted,
            (true, false) => Early::Refused,
        };
        if early == Early::Refused {
            self.held_up.end(now);
            self.forget_streams();
        }
        self.go_on_all(None, now);
        Event::Connected(early)
    }

    fn stream_event(&mut self, event: &StreamEvent, now: u64) -> Option<Event> {
        Some(match *event {
            StreamEvent::Opened { dir } => {
                self.opened[Direction::of(dir) as usize] = true;
                return None;
            }
            StreamEvent::Readable { id } => Event::Readable(id.into()),
            StreamEvent::Writable { id } => {
                self.held_up.free(id.into(), now);
                if !self.go_on(id.into(), now) {
                    return None;
                }
                Event::Writable(id.into())
            }
            StreamEvent::Finished { id } => Event::Finished(id.into()),
            StreamEvent::Stopped { id, error_code } => {
                self.held_up.free(id.into(), now);
                self.drop_rest(id.into());
                Event::Stopped(id.into(), error_code.into_inner())
            }
            StreamEvent::Available { dir } => {
                let direction = Direction::of(dir);
                self.held_up.opens(direction, now);
                self.go_on_all(Some(direction), now);
                Event::Room(direction)
            }
        })
    }

    fn protocol(&self) -> Option<Alpn> {
        let data = self.inner.crypto_session().handshake_data()?;
        let data = data.downcast::<HandshakeData>().ok()?;
        Alpn::from_name(&data.protocol?)
    }

    /// The stream, if this side may send on it.
    fn sending(&self, id: u64) -> Result<StreamId, Gone> {
        let stream = StreamId::from(VarInt::from_u64(id).map_err(|_| Gone)?);
        let is_ours = stream.initiator() == self.inner.side();
        if stream.dir() == Dir::Bi || is_ours { Ok(stream) } else { Err(Gone) }
    }

    /// The stream, if the peer may send on it.
    fn receiving(&self, id: u64) -> Result<StreamId, Gone> {
        let stream = StreamId::from(VarInt::from_u64(id).map_err(|_| Gone)?);
        let is_ours = stream.initiator() == self.inner.side();
        if stream.dir() == Dir::Bi || !is_ours { Ok(stream) } else { Err(Gone) }
    }
}

impl HeldUp {
    fn begin(&mut self, stream: u64, now: u64) {
        if self.streams.is_empty() {
            self.since = now;
        }
        self.streams.insert(stream);
    }

    fn free(&mut self, stream: u64, now: u64) {
        if self.streams.remove(&stream) && self.streams.is_empty() {
            self.write_ns += now.saturating_sub(self.since);
        }
    }

    fn opens(&mut self, direction: Direction, now: u64) {
        if let Some(since) = self.opening[direction as usize].take() {
            self.open_ns += now.saturating_sub(since);
        }
    }

    fn end(&mut self, now: u64) {
        (self.write_ns, self.open_ns) = self.totals(now);
        self.streams.clear();
        self.opening = [None; 2];
    }

    /// So far, with what lasts.
    fn totals(&self, now: u64) -> (u64, u64) {
        let writing = if self.streams.is_empty() { 0 } else { now.saturating_sub(self.since) };
        let opening = self.opening.iter().flatten().map(|since| now.saturating_sub(*since));
        (self.write_ns + writing, self.open_ns + opening.sum::<u64>())
    }
}
