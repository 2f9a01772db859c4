//! One connection, plain or TLS: the same calls for both.
//!
//! Knows which of the two it is. Must not know what the bytes mean.

use crate::tls::TlsSession;
use crate::{Alpn, ClientTls, Driver, Fill, Flush, NetError, ServerTls, Socket};

/// A connection to write plaintext to and to read plaintext from.
#[derive(Debug)]
pub struct Transport {
    kind: Kind,
}

/// Static dispatch. A plain connection must not pay in memory for TLS.
#[derive(Debug)]
enum Kind {
    Plain(Socket),
    Tls(Box<TlsSession>),
}

impl Transport {
    /// The socket's bytes as they are.
    pub fn plain(socket: Socket) -> Self {
        Self { kind: Kind::Plain(socket) }
    }

    /// TLS as the client. Nothing is sent before the first flush, which may
    /// come once the socket is connected.
    ///
    /// # Errors
    /// When rustls refuses the settings; the socket is closed then.
    pub fn tls_client(
        socket: Socket,
        config: &ClientTls,
        driver: &mut Driver,
    ) -> Result<Self, NetError> {
        Ok(Self { kind: Kind::Tls(Box::new(TlsSession::client(socket, config, driver)?)) })
    }

    /// TLS as the server.
    ///
    /// # Errors
    /// When rustls refuses the settings; the socket is closed then.
    pub fn tls_server(
        socket: Socket,
        config: &ServerTls,
        driver: &mut Driver,
    ) -> Result<Self, NetError> {
        Ok(Self { kind: Kind::Tls(Box::new(TlsSession::server(socket, config, driver)?)) })
    }

    /// The socket below.
    pub fn socket(&self) -> &Socket {
        match &self.kind {
            Kind::Plain(socket) => socket,
            Kind::Tls(tls) => tls.socket(),
        }
    }

    /// The socket below, for the driver's calls. Its `out` is the kernel's
    /// side: write to [`Transport::out`].
    pub fn socket_mut(&mut self) -> &mut Socket {
        match &mut self.kind {
            Kind::Plain(socket) => socket,
            Kind::Tls(tls) => tls.socket_mut(),
        }
    }

    /// Plaintext can pass: always when plain, after the handshake with TLS.
    pub fn is_established(&self) -> bool {
        match &self.kind {
            Kind::Plain(_) => true,
            Kind::Tls(tls) => tls.is_established(),
        }
    }

    /// The application protocol that both ends agreed on by ALPN. None when
    /// plain, before the handshake has come so far, and where one end names no
    /// protocol.
    pub fn agreed(&self) -> Option<Alpn> {
        match &self.kind {
            Kind::Plain(_) => None,
            Kind::Tls(tls) => tls.agreed(),
        }
    }

    /// Version, cipher suite and application protocol, if one is agreed on, as
    /// `TLSv1.3 TLS13_AES_256_GCM_SHA384, ALPN http/1.1`. None when plain or
    /// not yet agreed.
    pub fn tls_description(&self) -> Option<String> {
        match &self.kind {
            Kind::Plain(_) => None,
            Kind::Tls(tls) => tls.description(),
        }
    }

    /// Whether an earlier session was resumed, or None when plain or not yet
    /// known.
    pub fn resumed(&self) -> Option<bool> {
        match &self.kind {
            Kind::Plain(_) => None,
            Kind::Tls(tls) => tls.resumed(),
        }
    }

    /// Where to append plaintext to send. The front part may already be on
    /// its way, so never edit it.
    pub fn out(&mut self) -> &mut Vec<u8> {
        match &mut self.kind {
            Kind::Plain(socket) => &mut socket.out,
            Kind::Tls(tls) => tls.out(),
        }
    }

    /// A flush has something to do, as far as is known without one.
    pub fn has_output(&self) -> bool {
        match &self.kind {
            Kind::Plain(socket) => socket.pending() > 0,
            Kind::Tls(tls) => tls.has_output(),
        }
    }

    /// Sends what waits in `out`, and what the TLS handshake calls for.
    /// Plaintext waits until the handshake is done; `fill` sends it then.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn flush(&mut self, driver: &mut Driver) -> Result<Flush, NetError> {
        match &mut self.kind {
            Kind::Plain(socket) => driver.flush(socket),
            Kind::Tls(tls) => tls.flush(driver),
        }
    }

    /// Reads once; as [`Driver::fill`], with plaintext. With TLS, progress of
    /// the handshake is [`Fill::WouldBlock`]: look at
    /// [`Transport::is_established`] then. An end without `close_notify` is
    /// [`Fill::End`] too, and whether something was cut off is the codec's to
    /// judge; an end during the handshake is a failure.
    pub fn fill<'d>(&mut self, driver: &'d mut Driver, carry: &mut Vec<u8>) -> Fill<'d> {
        match &mut self.kind {
            Kind::Plain(socket) => driver.fill(socket, carry),
            Kind::Tls(tls) => tls.fill(driver, carry),
        }
    }

    /// After [`Fill::End`]: did the peer say that this was all? With TLS it
    /// does by `close_notify`, and a FIN alone may be anybody's.
    pub fn ended_on_purpose(&self) -> bool {
        match &self.kind {
            Kind::Plain(_) => true,
            Kind::Tls(tls) => tls.ended_on_purpose(),
        }
    }

    /// Bytes handed to and received from the kernel so far, with TLS' own.
    pub fn bytes(&self) -> (u64, u64) {
        self.socket().bytes()
    }

    /// Sends FIN, with TLS after `close_notify`, once everything in `out` is
    /// with the kernel. Reading goes on.
    pub fn shutdown_write(&mut self, driver: &mut Driver) {
        match &mut self.kind {
            Kind::Plain(socket) => driver.shutdown_write(socket),
            Kind::Tls(tls) => tls.shutdown_write(driver),
        }
    }

    /// Flushes and closes with FIN, with TLS after `close_notify`. What the
    /// kernel does not take at once is lost.
    pub fn close(self, driver: &mut Driver) {
        match self.kind {
            Kind::Plain(mut socket) => {
                // A failure is no concern of a connection that ends anyway.
                let _ = driver.flush(&mut socket);
                driver.close(socket);
            }
            Kind::Tls(tls) => tls.close(driver),
        }
    }

    /// Closes with RST.
    pub fn abort(self, driver: &mut Driver) {
        match self.kind {
            Kind::Plain(socket) => driver.abort(socket),
            Kind::Tls(tls) => tls.abort(driver),
        }
    }
}
