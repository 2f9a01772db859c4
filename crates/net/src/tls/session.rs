//! One TLS connection: plaintext on our side, records on the kernel's.
//!
//! Knows when to encrypt and that no decrypted byte may be left behind. Must
//! not know which poller moves the records, nor what the plaintext means.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;

use rustls::{Connection, HandshakeKind};

use crate::socket::trim;
use crate::tls::{Alpn, fault};
use crate::transfer::Received;
use crate::{ClientTls, Driver, Fill, Flush, NetError, ServerTls, Socket};

/// Plaintext encrypted at a time. A rest that the kernel does not take stays
/// plain, so a large message is not held twice.
const CHUNK: usize = 256 * 1024;

/// The most plaintext that one record holds.
const RECORD: usize = 16 * 1024;

/// A socket whose bytes are TLS records.
#[derive(Debug)]
pub(crate) struct TlsSession {
    socket: Socket,
    session: Connection,
    /// Application protocols that it offers or supports.
    alpn: Arc<[Alpn]>,
    /// Plaintext to send.
    out: Vec<u8>,
    /// How much of `out` has become records.
    encrypted: usize,
    /// FIN is to follow once everything is sent.
    finishing: bool,
    /// The peer's `close_notify` was seen.
    closed: bool,
    /// Told after the plaintext that came before it.
    failed: Option<NetError>,
}

impl TlsSession {
    pub(crate) fn client(
        socket: Socket,
        config: &ClientTls,
        driver: &mut Driver,
    ) -> Result<Self, NetError> {
        Self::on(socket, config.session(), &config.alpn, driver)
    }

    pub(crate) fn server(
        socket: Socket,
        config: &ServerTls,
        driver: &mut Driver,
    ) -> Result<Self, NetError> {
        Self::on(socket, config.session(), &config.alpn, driver)
    }

    /// A socket is its driver's until it is closed: what the driver knows of it must not outlive it.
    fn on<S: Into<Connection>>(
        socket: Socket,
        session: Result<S, NetError>,
        alpn: &Arc<[Alpn]>,
        driver: &mut Driver,
    ) -> Result<Self, NetError> {
        match session {
            Ok(session) => Ok(Self::new(socket, session.into(), Arc::clone(alpn))),
            Err(error) => {
                driver.abort(socket);
                Err(error)
            }
        }
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    pub(crate) fn socket_mut(&mut self) -> &mut Socket {
        &mut self.socket
    }

    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    pub(crate) fn has_output(&self) -> bool {
        self.socket.pending() > 0 || !self.out.is_empty() || self.session.wants_write()
    }

    pub(crate) fn is_established(&self) -> bool {
        !self.session.is_handshaking()
    }

    pub(crate) fn description(&self) -> Option<String> {
        // rustls names the version as an identifier: TLSv1_3.
        let version = self.session.protocol_version()?.as_str()?.replace('_', ".");
        let suite = self.session.negotiated_cipher_suite()?.suite().as_str()?;
        let protocol = self.agreed().map(|protocol| format!(", ALPN {protocol}"));
        Some(format!("{version} {suite}{}", protocol.unwrap_or_default()))
    }

    pub(crate) fn agreed(&self) -> Option<Alpn> {
        self.session.alpn_protocol().and_then(Alpn::from_name)
    }

    pub(crate) fn ended_on_purpose(&self) -> bool {
        self.closed
    }

    pub(crate) fn resumed(&self) -> Option<bool> {
        Some(self.session.handshake_kind()? == HandshakeKind::Resumed)
    }

    pub(crate) fn flush(&mut self, driver: &mut Driver) -> Result<Flush, NetError> {
        let mut bytes = 0;
        loop {
            self.encrypt()?;
            let flush = driver.flush(&mut self.socket)?;
            bytes += flush.bytes;
            if !flush.done {
                return Ok(Flush { bytes, done: false });
            }
            if self.out.is_empty() {
                self.finish(driver)?;
                return Ok(Flush { bytes, done: self.socket.pending() == 0 });
            }
            if !self.is_established() {
                // `fill` goes on with it when the handshake is done.
                return Ok(Flush { bytes, done: false });
            }
        }
    }

    pub(crate) fn fill<'d>(&mut self, driver: &'d mut Driver, carry: &mut Vec<u8>) -> Fill<'d> {
        if let Some(error) = self.failed.clone() {
            return Fill::Failed(error);
        }
        if self.closed {
            driver.pause_reads(&mut self.socket);
            return Fill::End;
        }
        let (buffer, count, drained) = match driver.receive(&mut self.socket, 0) {
            Received::Bytes { buffer, count, drained } => (buffer, count, drained),
            Received::WouldBlock => return Fill::WouldBlock,
            Received::End if self.is_established() => return Fill::End,
            Received::End => return Fill::Failed(fault::closed_in_handshake()),
            Received::Failed(error) => return Fill::Failed(error),
        };
        let (records, scratch) = driver.received_bytes(buffer, count);
        let carried = carry.len();
        let decrypted = self.decrypt(records, scratch, carried);
        self.answer(driver);
        if decrypted == 0 {
            return match self.failed.clone() {
                Some(error) => Fill::Failed(error),
                None if self.closed => Fill::End,
                None => Fill::WouldBlock,
            };
        }
        let plain = &mut driver.plaintext()[..carried + decrypted];
        plain[..carried].copy_from_slice(carry);
        carry.clear();
        Fill::Data(plain, decrypted, drained && !self.closed && self.failed.is_none())
    }

    pub(crate) fn shutdown_write(&mut self, driver: &mut Driver) {
        self.finishing = true;
        // A broken connection is told by the next fill.
        let _ = self.flush(driver);
    }

    pub(crate) fn close(mut self, driver: &mut Driver) {
        // What follows `close_notify` is void, so the rest goes first. Whether
        // the peer still gets it is no concern of a closed connection.
        let _ = self.flush(driver);
        self.session.send_close_notify();
        let _ = self.flush(driver);
        driver.close(self.socket);
    }

    pub(crate) fn abort(self, driver: &mut Driver) {
        driver.abort(self.socket);
    }

    fn new(socket: Socket, mut session: Connection, alpn: Arc<[Alpn]>) -> Self {
        // Bounded by CHUNK here, and by what one receive brings.
        session.set_buffer_limit(None);
        Self {
            socket,
            session,
            alpn,
            out: Vec::new(),
            encrypted: 0,
            finishing: false,
            closed: false,
            failed: None,
        }
    }

    /// Turns handshake messages and the next chunk of plaintext into records,
    /// while the kernel keeps up with them.
    fn encrypt(&mut self) -> Result<(), NetError> {
        if self.is_established() && self.socket.pending() < CHUNK {
            let end = self.out.len().min(self.encrypted + CHUNK);
            let chunk = &self.out[self.encrypted..end];
            self.session.writer().write_all(chunk).map_err(|error| broken(&error))?;
            self.encrypted = end;
            trim(&mut self.out, &mut self.encrypted);
        }
        while self.session.wants_write() {
            self.session.write_tls(&mut self.socket.out).map_err(|error| broken(&error))?;
        }
        Ok(())
    }

    /// Decrypts all records into `scratch` from index `start` on and returns
    /// the bytes of plaintext.
    fn decrypt(&mut self, mut records: &[u8], scratch: &mut Vec<u8>, start: usize) -> usize {
        let mut end = start;
        while !records.is_empty() {
            let took = self.session.read_tls(&mut records);
            let processed = self.session.process_new_packets();
            // Plaintext of sound records counts even if a bad one follows.
            match self.take_plaintext(scratch, end) {
                Ok(count) => end += count,
                Err(error) => self.failed = Some(broken(&error)),
            }
            match (took, processed) {
                (Err(error), _) => self.failed = Some(broken(&error)),
                (_, Err(error)) => self.failed = Some(fault::session(&error, &self.alpn)),
                (Ok(_), Ok(io)) => self.closed |= io.peer_has_closed(),
            }
            if self.closed || self.failed.is_some() {
                break;
            }
        }
        end - start
    }

    fn take_plaintext(&mut self, scratch: &mut Vec<u8>, start: usize) -> std::io::Result<usize> {
        let mut end = start;
        loop {
            if scratch.len() < end + RECORD {
                scratch.resize(end + 2 * RECORD, 0);
            }
            match self.session.reader().read(&mut scratch[end..]) {
                Ok(0) => return Ok(end - start),
                Ok(count) => end += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(end - start),
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends what the received records call for: handshake messages, alerts,
    /// and plaintext that waited for the handshake.
    fn answer(&mut self, driver: &mut Driver) {
        let waiting = self.session.wants_write() || (self.is_established() && !self.out.is_empty());
        if !waiting {
            return;
        }
        if let Err(error) = self.flush(driver) {
            // Why the session broke says more than that the alert was lost.
            self.failed.get_or_insert(error);
        }
    }

    fn finish(&mut self, driver: &mut Driver) -> Result<(), NetError> {
        if !self.finishing {
            return Ok(());
        }
        self.finishing = false;
        self.session.send_close_notify();
        self.encrypt()?;
        driver.flush(&mut self.socket)?;
        driver.shutdown_write(&mut self.socket);
        Ok(())
    }
}

/// rustls' reader and writer work in memory: only a misuse of the session
/// makes them fail.
fn broken(error: &std::io::Error) -> NetError {
    NetError::Tls(format!("the TLS session is broken: {error}").into())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::time::Duration;

    use crate::tls::client::ClientTls;
    use crate::{ClientTlsSettings, ConnectSpec, Driver, DriverConfig, Key, Transport};

    /// Then nobody has it, and what the driver knows of it would be taken for the next socket with its
    /// descriptor.
    #[test]
    fn a_socket_without_a_session_is_given_back_to_its_driver() {
        let settings = ClientTlsSettings {
            ca_file: None,
            insecure: true,
            server_name: "localhost".to_owned(),
            resumption: false,
            alpn: Vec::new(),
        };
        let mut tls = ClientTls::new(&settings).expect("settings");
        // What no setting of ours leads to: rustls refuses it when a session is made.
        Arc::get_mut(&mut tls.config).expect("alone").max_fragment_size = Some(1);
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let peer = listener.local_addr().expect("bound");
        let spec = ConnectSpec {
            peer,
            source: None,
            nodelay: true,
            receive_buffer: None,
            congestion: None,
        };
        let mut driver = Driver::new(&DriverConfig::default()).expect("a driver");
        for slot in 0..3 {
            let socket = driver.connect(Key { slot, generation: 0 }, &spec).expect("connect");
            Transport::tls_client(socket, &tls, &mut driver).expect_err("no session");
            let (mut other, _) = listener.accept().expect("accept");
            other.set_read_timeout(Some(Duration::from_millis(20))).expect("set");
            let ended = (0..100).any(|_| {
                driver.wait(Some(Duration::ZERO)).expect("wait");
                assert!(driver.next().is_none(), "nobody has connection {slot}");
                matches!(other.read(&mut [0]), Ok(0))
            });
            assert!(ended, "the peer sees the end of connection {slot}");
        }
    }
}
