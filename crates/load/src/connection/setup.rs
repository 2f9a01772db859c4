//! From a socket to a connection on which messages may be sent: TCP, TLS, the protocol's handshake.
//!
//! Knows the steps and how long each took. Must not know who asked for the connection, nor why.

use wiretrial_net::{Driver, NetError};
use wiretrial_proto::ClientSession as _;

use super::{Buffers, Connection, State};
use crate::clock::Nanos;
use crate::deliveries::Deliveries;
use crate::measure::{Metric, Recorder};

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
        let Some(link) = &mut self.link else { return Ok(()) };
        driver.connect_result(link.transport.socket_mut())?;
        self.step_done(Metric::ConnectTime, now, recorder);
        self.state = State::Securing;
        Ok(())
    }

    /// Goes on once TLS stands, which without it is at once; what there is to say then waits for a
    /// flush. True: there is no handshake behind it, so messages may be sent.
    pub(crate) fn secured(
        &mut self,
        has_tls: bool,
        now: Nanos,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
    ) -> bool {
        let Some(link) = &mut self.link else { return false };
        if !link.transport.is_established() {
            return false;
        }
        buffers.lend(link.transport.out());
        self.start(has_tls, now, recorder)
    }

    /// Says what the protocol begins with. True: messages may be sent.
    pub(super) fn start(&mut self, has_tls: bool, now: Nanos, recorder: &mut Recorder) -> bool {
        let Some(link) = &mut self.link else { return false };
        link.session.start(link.transport.out());
        let is_open = link.session.is_open();
        if has_tls {
            self.step_done(Metric::TlsTime, now, recorder);
        }
        self.state = State::Opening;
        is_open
    }

    /// Messages may be sent. Who is owed copies of others' messages sits down at this place of theirs.
    pub(crate) fn stand(&mut self, company: Option<(&mut Deliveries, u32)>) {
        self.state = State::Ready;
        let member = self.link.as_ref().and_then(|link| link.session.member());
        if let (Some((deliveries, place)), Some(member)) = (company, member) {
            deliveries.sit(place, member);
        }
    }

    /// The step of the set-up that began at `since` is done: records its time.
    pub(super) fn step_done(&mut self, metric: Metric, now: Nanos, recorder: &mut Recorder) {
        recorder.record(metric, now - self.since);
        self.since = now;
    }
}
