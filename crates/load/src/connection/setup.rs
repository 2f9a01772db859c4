//! From a socket to a connection on which messages may be sent: TCP, TLS, the protocol's handshake.
//!
//! Knows the steps and how long each took. Must not know who asked for the connection, nor why.

use wiretrial_net::{Alpn, Driver, NetError};
use wiretrial_proto::ClientSession as _;

use super::{AnyTransport, Buffers, Connection, Ledger, Link, State};
use crate::clock::Nanos;
use crate::deliveries::Deliveries;
use crate::measure::{Metric, Recorder};
use crate::protocol::Protocol;

/// What the server has picked (ALPN), where it is not what is to be spoken; none: nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Picked(pub(crate) Option<Alpn>);

impl Picked {
    /// What is said of a server that picks another protocol than it did before the load.
    pub(crate) fn unlike_the_first(self) -> String {
        let (before, now) = match self.0 {
            Some(Alpn::Http2) => ("HTTP/1.1", "HTTP/2"),
            _ => ("HTTP/2", "HTTP/1.1"),
        };
        format!(
            "the server picked {now} on this connection (ALPN) and {before} before: servers behind one address differ; load one of them, or use --http 1.1"
        )
    }
}

impl Link {
    /// Has the server picked what is to be spoken? Who picks nothing speaks HTTP/1.1.
    fn picked(&mut self) -> Result<(), Picked> {
        let picked = self.transport.agreed();
        let is_http2 = picked == Some(Alpn::Http2);
        if is_http2 == self.session.is_http2() { Ok(()) } else { Err(Picked(picked)) }
    }
}

impl Connection {
    /// TCP's own set-up is over, well or badly.
    ///
    /// # Errors
    /// Badly.
    pub(crate) fn connected(
        &mut self,
        driver: &mut Driver,
        now: Nanos,
        recorder: &mut Recorder,
    ) -> Result<(), NetError> {
        let Some(Link { transport: AnyTransport::Tcp(transport), .. }) = &mut self.link else {
            return Ok(());
        };
        driver.connect_result(transport.socket_mut())?;
        self.step_done(Metric::ConnectTime, now, recorder);
        self.state = State::Securing;
        Ok(())
    }

    /// Speaks this in place of its session where the server picks HTTP/2 of both that are offered.
    pub(crate) fn offer_http2(&mut self, session: Protocol) {
        self.partial.get_or_insert_default().if_http2 = Some(Box::new(session));
    }

    /// Goes on once TLS stands, which without it is at once; what there is to say then waits for a
    /// flush. True: there is no handshake behind it, so messages may be sent.
    ///
    /// # Errors
    /// The server has picked another protocol (ALPN) than is to be spoken.
    pub(crate) fn secured(
        &mut self,
        has_tls: bool,
        now: Nanos,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
    ) -> Result<bool, Picked> {
        let Some(link) = &mut self.link else { return Ok(false) };
        if !link.transport.is_established() {
            return Ok(false);
        }
        buffers.lend(link.transport.out());
        self.start(has_tls, now, recorder)
    }

    /// Says what the protocol begins with, which TLS may have decided. True: messages may be sent.
    ///
    /// # Errors
    /// The server has picked another protocol (ALPN) than is to be spoken.
    pub(super) fn start(
        &mut self,
        has_tls: bool,
        now: Nanos,
        recorder: &mut Recorder,
    ) -> Result<bool, Picked> {
        let if_http2 = self.partial.as_mut().and_then(|partial| partial.if_http2.take());
        let Some(link) = &mut self.link else { return Ok(false) };
        if let Some(session) = if_http2.filter(|_| link.transport.agreed() == Some(Alpn::Http2)) {
            link.session = *session;
            self.ledger = Ledger::new(true);
        }
        if has_tls {
            link.picked()?;
        }
        link.session.came_at(now);
        link.session.start(link.transport.out());
        let is_open = link.session.is_open();
        if has_tls {
            self.tls_done(Metric::TlsTime, now, recorder);
        }
        self.state = State::Opening;
        Ok(is_open)
    }

    /// The protocol's own handshake is over: over HTTP/2 the server's settings have come, which requests may have gone
    /// before, and WebSockets on streams stand, over HTTP/3, too.
    pub(super) fn opened(&mut self, now: Nanos, recorder: &mut Recorder) {
        let session = self.link.as_ref().map(|link| &link.session);
        let settled = match session {
            Some(Protocol::Http2(_)) => Some(now),
            Some(Protocol::WebSockets(session)) => session.settled_at().map(Nanos),
            // Each WebSocket has its own time, and there is nothing before them.
            Some(Protocol::Http3(_)) => return self.record_upgrades(recorder),
            _ => None,
        };
        match settled {
            Some(settled) => self.step_done(Metric::SettingsTime, settled, recorder),
            None => self.step_done(Metric::UpgradeTime, now, recorder),
        }
        self.record_upgrades(recorder);
    }

    /// Records for how long the WebSockets were asked for that were accepted on streams since.
    pub(super) fn record_upgrades(&mut self, recorder: &mut Recorder) {
        let times = match self.link.as_mut().map(|link| &mut link.session) {
            Some(Protocol::WebSockets(session)) => session.take_upgrades(),
            Some(Protocol::Http3(session)) => session.take_upgrades(),
            _ => return,
        };
        for time in times {
            recorder.record(Metric::UpgradeTime, Nanos(time));
        }
    }

    /// Messages may be sent. Who is owed copies of others' messages sits down at this place of theirs.
    pub(crate) fn stand(&mut self, company: Option<(&mut Deliveries, u32)>) {
        self.state = State::Ready;
        let member = self.link.as_ref().and_then(|link| link.session.member());
        if let (Some((deliveries, place)), Some(member)) = (company, member) {
            deliveries.sit(place, member);
        }
    }

    /// As [`Connection::step_done`], of the step that TLS is, or is a part of.
    pub(super) fn tls_done(&mut self, metric: Metric, now: Nanos, recorder: &mut Recorder) {
        let resumed = self.link.as_ref().and_then(|link| link.transport.resumed());
        if resumed == Some(true) {
            recorder.record(Metric::ResumedTime, now - self.since);
        }
        self.step_done(metric, now, recorder);
    }

    /// The step of the set-up that began at `since` is done: records its time.
    pub(super) fn step_done(&mut self, metric: Metric, now: Nanos, recorder: &mut Recorder) {
        recorder.record(metric, now - self.since);
        self.since = now;
    }
}
