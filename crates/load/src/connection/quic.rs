//! QUIC as what carries a session: what it wants done with streams is done, and sent.
//!
//! Knows streams by their numbers. Must not know what they carry, nor what comes of it.

use std::net::SocketAddr;
use std::os::fd::AsFd as _;

use wiretrial_net::quic::{
    Connection, Direction, Early, Event, Gone, QuicClient, QuicClientConfig, Read, UdpSettings,
};
use wiretrial_net::{Alpn, Driver, Flush, Key, NetError};
use wiretrial_proto::http3::{Action, ErrorCode};

use super::Buffers;
use super::intake::Intake;
use crate::clock::Nanos;
use crate::measure::http3::Http3Figures;
use crate::protocol::Protocol;

/// One connection of QUIC, and what its session has said and it was not told yet.
#[derive(Debug)]
pub(crate) struct QuicTransport {
    client: QuicClient,
    key: Key,
    /// Bytes for its streams; which of them are whose the session knows.
    out: Vec<u8>,
    /// Streams that are asked for at once.
    streams: u32,
    /// Datagrams may have to go: something came, or was due, since the last flush.
    is_stirred: bool,
    /// The driver tells when the socket takes more.
    awaits_room: bool,
    /// What became of messages that were sent before the handshake's end; none: it has not ended.
    early: Option<Early>,
    /// The latest instant that it was told: time does not go backwards.
    latest: u64,
}

impl QuicTransport {
    /// Asks for a connection; the first flush sends.
    pub(super) fn ask(
        config: &QuicClientConfig,
        (peer, udp): (SocketAddr, &UdpSettings),
        streams: u32,
        (driver, key): (&mut Driver, Key),
        now: Nanos,
    ) -> Result<Self, NetError> {
        let client = QuicClient::watched(driver, key, config, (peer, udp), now.0)?;
        Ok(Self {
            client,
            key,
            out: Vec::new(),
            streams,
            is_stirred: true,
            awaits_room: false,
            early: None,
            latest: now.0,
        })
    }

    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    pub(super) fn has_output(&self) -> bool {
        self.is_stirred || !self.out.is_empty()
    }

    pub(super) fn bytes(&self) -> (u64, u64) {
        self.client.bytes()
    }

    pub(super) fn agreed(&mut self) -> Option<Alpn> {
        self.client.connection().agreed()
    }

    /// What is sent now goes before the handshake's end.
    pub(super) fn is_early(&mut self) -> bool {
        self.client.connection().is_early()
    }

    /// The handshake is over, and this came of messages that were sent before.
    pub(super) fn stands(&mut self, early: Early) {
        self.early = Some(early);
    }

    pub(super) fn resumed(&self) -> Option<bool> {
        self.client.resumed()
    }

    /// Takes in the datagrams that came. True: there may be more.
    pub(super) fn receive(&mut self, now: Nanos, intake: &mut Intake) -> Result<bool, NetError> {
        let now = self.no_earlier(now);
        self.is_stirred = true;
        self.client.receive(now, &mut intake.datagrams)
    }

    /// What happened next.
    pub(super) fn event(&mut self, now: Nanos) -> Option<Event> {
        let now = self.no_earlier(now);
        self.client.event(now)
    }

    /// Appends what came on a stream, no more than so many bytes.
    pub(super) fn read(
        &mut self,
        stream: u64,
        bytes: &mut Vec<u8>,
        most: usize,
    ) -> Result<Read, Gone> {
        self.client.connection().read(stream, bytes, most)
    }

    pub(super) fn deadline(&mut self) -> Option<Nanos> {
        self.client.deadline().map(Nanos)
    }

    /// Does what is due.
    pub(super) fn on_deadline(&mut self, now: Nanos) {
        let now = self.no_earlier(now);
        self.is_stirred = true;
        self.client.on_deadline(now);
    }

    /// Does what the session wants done, and sends.
    pub(super) fn flush(
        &mut self,
        session: &mut Protocol,
        driver: &mut Driver,
        buffers: &mut Buffers,
        now: Nanos,
    ) -> Result<Flush, NetError> {
        let now = self.no_earlier(now);
        self.perform(session, now);
        self.is_stirred = false;
        let datagrams = &mut buffers.intake().datagrams;
        let mut flushed = self.client.flush(now, datagrams)?;
        self.allow(session);
        if !self.out.is_empty() {
            // WebSockets are asked for that were missing, and nothing else would send that.
            self.perform(session, now);
            let more = self.client.flush(now, datagrams)?;
            flushed = Flush { bytes: flushed.bytes + more.bytes, done: more.done };
        }
        if self.awaits_room == flushed.done {
            self.awaits_room = !flushed.done;
            driver.watch(self.key, self.client.as_fd(), self.awaits_room)?;
        }
        Ok(flushed)
    }

    /// Ends the connection in order, unless it is over. Gives how many bytes went, and what was counted.
    pub(super) fn leave(
        mut self,
        session: &mut Protocol,
        buffers: &mut Buffers,
        now: Nanos,
    ) -> (u64, Http3Figures) {
        let now = self.no_earlier(now);
        self.perform(session, now);
        let datagrams = &mut buffers.intake().datagrams;
        // What was said goes before the end, of which the peer does not hear it any more.
        let said = self.client.flush(now, datagrams);
        let connection = self.client.connection();
        if !connection.is_closed() {
            connection.close(ErrorCode::NoError as u64, "", now);
        }
        let goodbye = self.client.flush(now, datagrams);
        let bytes = [said, goodbye].into_iter().flatten().map(|flushed| flushed.bytes as u64);
        (bytes.sum(), self.figures(session, now))
    }

    fn figures(&mut self, session: &mut Protocol, now: u64) -> Http3Figures {
        let socket = self.client.socket_counters();
        let connection = self.client.connection().counters(now);
        let is_left = session.http3().is_some_and(|session| session.is_left());
        // Before the handshake's end these are only what is assumed of any path.
        let stood = u64::from(self.early.is_some());
        Http3Figures {
            goaways: is_left.into(),
            refused: 0,
            datagrams_sent: socket.datagrams_sent,
            sends: socket.sends,
            datagrams_received: socket.datagrams_received,
            receives: socket.receives,
            datagrams_dropped: socket.dropped.unwrap_or_default(),
            packets_sent: connection.packets_sent,
            packets_lost: connection.packets_lost,
            congestion_events: connection.congestion_events,
            black_holes: connection.black_holes,
            ended: stood,
            congestion_windows: stood * connection.congestion_window,
            round_trips_ns: stood * connection.rtt_ns,
            largest_datagrams: stood * u64::from(connection.datagram_bytes),
            sends_held_ns: connection.write_blocked_ns,
            early_accepted: u64::from(self.early == Some(Early::Accepted)),
            early_refused: u64::from(self.early == Some(Early::Refused)),
        }
    }

    fn perform(&mut self, session: &mut Protocol, now: u64) {
        let Some(session) = session.http3() else { return };
        let connection = self.client.connection();
        session.perform(&mut self.out, |action| perform(action, connection, now));
    }

    /// Lets the session begin as many messages as there may be streams.
    pub(super) fn allow(&mut self, session: &mut Protocol) {
        let Some(session) = session.http3() else { return };
        let ahead = self.streams.into();
        let streams = self.client.connection().allowed(Direction::Bidirectional, ahead);
        session.allow(streams, &mut self.out);
    }

    fn no_earlier(&mut self, now: Nanos) -> u64 {
        self.latest = self.latest.max(now.0);
        self.latest
    }
}

/// What is about a stream that is over, or was given up by the peer, is nobody's concern any more.
fn perform(action: Action<'_>, connection: &mut Connection, now: u64) {
    let _ = match action {
        Action::Write { stream, bytes, fin } => connection.send(stream, bytes, fin, now),
        Action::Reset { stream, code } => connection.reset(stream, code, now),
        Action::Stop { stream, code } => connection.stop(stream, code),
        Action::Close { code } => {
            connection.close(code, "", now);
            Ok(())
        }
    };
}
