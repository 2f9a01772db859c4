//! What comes over QUIC: datagrams, and on its streams what a session makes events of.
//!
//! Knows in which order all of it is taken in. Must not know what a stream carries, nor what a lost datagram does.

use wiretrial_net::quic::{Direction, Early, Event as QuicEvent, Read};
use wiretrial_proto::{ClientSession as _, Event, ProtocolError, Scratch, Tag};

use super::outcome::{Expected, Received};
use super::quic::QuicTransport;
use super::receive::excerpt;
use super::{AnyTransport, Connection, Ending, Link, State, Testimony, Witness};
use crate::clock::Nanos;
use crate::measure::{Metric, Recorder};
use crate::protocol::Http3Session;

/// Bytes of one stream that are taken in at a time.
const MOST_READ: usize = 64 * 1024;

impl Connection {
    /// Is it over QUIC?
    #[inline]
    pub(crate) fn is_quic(&self) -> bool {
        matches!(&self.link, Some(Link { transport: AnyTransport::Quic(_), .. }))
    }

    /// When [`Connection::on_deadline`] is to be called, over QUIC; none: not before something else happens.
    pub(crate) fn deadline(&mut self) -> Option<Nanos> {
        match &mut self.link {
            Some(Link { transport: AnyTransport::Quic(quic), .. }) => quic.deadline(),
            _ => None,
        }
    }

    /// Does what is due: what was lost goes again, what waits too long is given up. What comes of it shows
    /// when it is [read](Connection::receive).
    pub(crate) fn on_deadline(&mut self, now: Nanos) {
        if let Some(Link { transport: AnyTransport::Quic(quic), .. }) = &mut self.link {
            quic.on_deadline(now);
        }
    }

    /// Takes in the datagrams that came, and what they bring.
    pub(super) fn receive_datagrams<W: Witness>(
        &mut self,
        came: impl Fn() -> Nanos,
        scratch: &mut Scratch,
        expected: &mut Expected<'_, W>,
    ) -> Received {
        let mut received = Received::default();
        received.drained = true;
        let Some((quic, session)) = self.streams_of() else { return received };
        let before = quic.bytes().1;
        let taken = quic.receive(came(), expected.buffers.intake());
        received.at = came();
        expected.recorder.bytes.received += quic.bytes().1 - before;
        session.came_at(received.at.0);
        match taken {
            Ok(more) => received.drained = !more,
            Err(error) => received.ending = Some(self.broken(&error)),
        }
        let mut bytes = std::mem::take(&mut expected.buffers.intake().bytes);
        while received.ending.is_none()
            && let Some((quic, _)) = self.streams_of()
            && let Some(event) = quic.event(received.at)
        {
            self.hear(event, &mut bytes, scratch, &mut received, expected);
        }
        expected.buffers.intake().bytes = bytes;
        received.record_alike(expected.recorder, expected.open_loop);
        received
    }

    fn hear<W: Witness>(
        &mut self,
        event: QuicEvent,
        bytes: &mut Vec<u8>,
        scratch: &mut Scratch,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        match event {
            QuicEvent::Connected(early) => {
                self.tls_done(Metric::ConnectTime, received.at, expected.recorder);
                self.stands_over_quic(early, received, expected.recorder);
            }
            QuicEvent::Readable(stream) => self.read(stream, bytes, scratch, received, expected),
            QuicEvent::Stopped(stream, code) => {
                let Some((quic, session)) = self.streams_of() else { return };
                let stopped = session.stop_sending(stream, code, quic.out());
                self.take_end(stopped, received, expected);
            }
            QuicEvent::Room(Direction::Bidirectional) => {
                if let Some(Link { transport: AnyTransport::Quic(quic), session }) = &mut self.link
                {
                    quic.allow(session);
                    received.room_changed = true;
                }
            }
            QuicEvent::Room(Direction::Unidirectional)
            | QuicEvent::Writable(_)
            | QuicEvent::Finished(_) => {}
            QuicEvent::Ended(fault) => received.ending = Some(self.over(fault)),
        }
    }

    /// Begins where the server takes messages before the handshake's end (0-RTT). True: they may be sent.
    pub(crate) fn begins_early(&mut self) -> bool {
        let Some(Link { transport: AnyTransport::Quic(quic), session }) = &mut self.link else {
            return false;
        };
        // WebSockets have to hear of the server first.
        let begins = quic.is_early() && session.is_open();
        if begins {
            session.start(quic.out());
            quic.allow(session);
        }
        begins
    }

    /// The handshake is over.
    fn stands_over_quic(&mut self, early: Early, received: &mut Received, recorder: &mut Recorder) {
        let began = self.state == State::Ready;
        let Some(Link { transport: AnyTransport::Quic(quic), session }) = &mut self.link else {
            return;
        };
        // A connection that began early may have had no message to send by then.
        quic.stands(if self.requests > 0 { early } else { Early::None });
        if !began {
            session.start(quic.out());
            quic.allow(session);
            // WebSockets have to stand first.
            received.opened = session.is_open();
            self.state = State::Opening;
            return;
        }
        let lost = match session.http3() {
            Some(session) if early == Early::Refused => session.refused_early(quic.out()),
            _ => Vec::new(),
        };
        quic.allow(session);
        received.room_changed = true;
        for number in lost {
            self.unprocessed(Tag::Number(number), received, recorder);
        }
    }

    /// Takes in what came on a stream.
    fn read<W: Witness>(
        &mut self,
        stream: u64,
        bytes: &mut Vec<u8>,
        scratch: &mut Scratch,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        loop {
            let Some((quic, _)) = self.streams_of() else { return };
            bytes.clear();
            // Else it was given up on this side.
            let Ok(read) = quic.read(stream, bytes, MOST_READ) else { return };
            expected.recorder.bytes.application_received += bytes.len() as u64;
            if let Testimony::End(ending) = expected.witness.bytes(bytes) {
                received.ending = Some(ending);
                return;
            }
            let fin = read == Read::Finished;
            self.take_piece((stream, fin), bytes, scratch, received, expected);
            if received.ending.is_some() {
                return;
            }
            match read {
                Read::More => {}
                Read::Blocked | Read::Finished => return,
                Read::Reset(code) => return self.take_reset(stream, code, received, expected),
            }
        }
    }

    /// Takes in events until the session has taken all of a piece.
    fn take_piece<W: Witness>(
        &mut self,
        stream: (u64, bool),
        bytes: &[u8],
        scratch: &mut Scratch,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        let mut rest = bytes;
        loop {
            let Some((quic, session)) = self.streams_of() else { return };
            let step = match session.receive_on(stream, rest, scratch, quic.out()) {
                Ok(step) => step,
                Err(error) => {
                    received.ending = Some(failed(&error, rest));
                    return;
                }
            };
            rest = &rest[step.consumed..];
            let Some(event) = &step.event else { return };
            self.take_in(event, received, expected);
            if received.ending.is_some() {
                return;
            }
        }
    }

    /// The server gave a stream up.
    #[cold]
    fn take_reset<W: Witness>(
        &mut self,
        stream: u64,
        code: u64,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        let Some((quic, session)) = self.streams_of() else { return };
        let reset = session.reset(stream, code, quic.out());
        self.take_end(reset, received, expected);
    }

    /// Takes in what becomes of a message whose stream has ended on one side.
    fn take_end<W: Witness>(
        &mut self,
        told: Result<Option<Event<'static>>, ProtocolError>,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        match told {
            Ok(None) => {}
            Ok(Some(event)) => self.take_in(&event, received, expected),
            Err(error) => received.ending = Some(failed(&error, &[])),
        }
    }

    /// Its transport and its session, where streams are the transport's.
    #[inline]
    fn streams_of(&mut self) -> Option<(&mut QuicTransport, &mut Http3Session)> {
        match &mut self.link {
            Some(Link { transport: AnyTransport::Quic(quic), session }) => {
                Some((&mut **quic, session.http3()?))
            }
            _ => None,
        }
    }
}

/// The server broke the rules.
#[cold]
fn failed(error: &ProtocolError, rest: &[u8]) -> Ending {
    Ending::Failed(error.class.into(), format!("{error}{}", excerpt(rest)))
}
