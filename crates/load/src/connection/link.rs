//! What a connection consists of while it has a socket: a transport and a session.
//!
//! Knows which transports there are: TCP, with TLS or without, and QUIC. Must not know what is in flight.

use wiretrial_net::{Alpn, Driver, Flush, NetError, Transport};

use super::Buffers;
use super::quic::QuicTransport;
use crate::clock::Nanos;
use crate::measure::http3::Http3Figures;
use crate::protocol::Protocol;

/// What a connection consists of while it has a socket.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) transport: AnyTransport,
    pub(crate) session: Protocol,
}

/// What carries bytes. There may be a million connections of TCP, which must not pay in memory for QUIC.
#[derive(Debug)]
pub(crate) enum AnyTransport {
    /// TCP, with TLS or without.
    Tcp(Transport),
    /// QUIC.
    Quic(Box<QuicTransport>),
}

/// What was there to tell of a link that was left.
#[derive(Debug)]
pub(crate) struct Left {
    /// Bytes that went with the goodbye.
    pub(crate) bytes: u64,
    /// What was counted over HTTP/3.
    pub(crate) http3: Option<Http3Figures>,
}

impl Link {
    /// Hands what is encoded to the kernel.
    ///
    /// # Errors
    /// The connection is broken.
    #[inline]
    pub(super) fn flush(
        &mut self,
        driver: &mut Driver,
        buffers: &mut Buffers,
        now: Nanos,
    ) -> Result<Flush, NetError> {
        match &mut self.transport {
            AnyTransport::Tcp(transport) => transport.flush(driver),
            AnyTransport::Quic(quic) => quic.flush(&mut self.session, driver, buffers, now),
        }
    }

    /// Something waits for a flush.
    pub(crate) fn has_output(&self) -> bool {
        match &self.transport {
            AnyTransport::Tcp(transport) => transport.has_output(),
            AnyTransport::Quic(quic) => quic.has_output() || self.session.has_deeds(),
        }
    }

    /// Sends what there is to be sent, and closes.
    pub(crate) fn leave(
        self,
        driver: &mut Driver,
        buffers: &mut Buffers,
        now: impl FnOnce() -> Nanos,
    ) -> Left {
        let Self { transport, mut session } = self;
        match transport {
            AnyTransport::Tcp(mut transport) => {
                let flushed = transport.flush(driver);
                transport.close(driver);
                let bytes = flushed.map_or(0, |flushed| flushed.bytes as u64);
                Left { bytes, http3: None }
            }
            AnyTransport::Quic(quic) => {
                let (bytes, figures) = quic.leave(&mut session, buffers, now());
                Left { bytes, http3: Some(figures) }
            }
        }
    }
}

impl AnyTransport {
    /// Where to append what is to be sent.
    #[inline]
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Tcp(transport) => transport.out(),
            Self::Quic(quic) => quic.out(),
        }
    }

    /// Bytes handed to and received from the kernel so far.
    #[inline]
    pub(super) fn bytes(&self) -> (u64, u64) {
        match self {
            Self::Tcp(transport) => transport.bytes(),
            Self::Quic(quic) => quic.bytes(),
        }
    }

    /// Bytes can pass, behind TLS where there is any. QUIC tells that by an event.
    pub(super) fn is_established(&self) -> bool {
        match self {
            Self::Tcp(transport) => transport.is_established(),
            Self::Quic(_) => false,
        }
    }

    /// Whether an earlier session of TLS was resumed; none where there is no TLS, or it is not there yet.
    pub(super) fn resumed(&self) -> Option<bool> {
        match self {
            Self::Tcp(transport) => transport.resumed(),
            Self::Quic(quic) => quic.resumed(),
        }
    }

    /// The application protocol that both ends agreed on by ALPN.
    pub(crate) fn agreed(&mut self) -> Option<Alpn> {
        match self {
            Self::Tcp(transport) => transport.agreed(),
            Self::Quic(quic) => quic.agreed(),
        }
    }

    /// The congestion control of TCP, as the kernel tells it; none over QUIC, and where it does not tell.
    pub(crate) fn congestion(&self) -> Option<String> {
        match self {
            Self::Tcp(transport) => transport.socket().congestion().ok(),
            Self::Quic(_) => None,
        }
    }

    /// What TLS is, for people; none where there is none.
    pub(crate) fn tls_description(&self) -> Option<String> {
        match self {
            Self::Tcp(transport) => transport.tls_description(),
            // There is no other version in it (RFC 9001 section 4.2), and without h3 no connection.
            Self::Quic(_) => Some(format!("TLSv1.3 in QUIC, ALPN {}", Alpn::Http3)),
        }
    }
}
