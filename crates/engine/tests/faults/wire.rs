//! A connection of the scripted server, plain or TLS, and the ways in which it may end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Bytes in both directions; reads are buffered, so that a request can be read to its end.
pub(crate) struct Wire(BufReader<Kind>);

enum Kind {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let Some(config) = tls else { return Ok(Self(BufReader::new(Kind::Plain(stream)))) };
        let session = ServerConnection::new(config).map_err(io::Error::other)?;
        let kind = Kind::Tls(Box::new(StreamOwned::new(session, stream)));
        Ok(Self(BufReader::new(kind)))
    }

    /// Sends below TLS, where there is any.
    pub(crate) fn write_below(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut tcp = self.tcp();
        tcp.write_all(bytes)
    }

    /// FIN, with TLS after `close_notify`.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Kind::Tls(tls) = self.0.get_mut() {
            // The handshake first, and no look at what else has come: rustls asserts in a debug
            // build that a session which has said farewell meets no alert before its keys stand.
            while tls.conn.is_handshaking() {
                tls.conn.complete_io(&mut tls.sock)?;
            }
            tls.conn.send_close_notify();
            while tls.conn.wants_write() {
                tls.conn.write_tls(&mut tls.sock)?;
            }
        }
        self.cut()
    }

    /// FIN alone.
    pub(crate) fn cut(&mut self) -> io::Result<()> {
        self.tcp().shutdown(Shutdown::Write)
    }

    /// RST.
    pub(crate) fn reset(self) -> io::Result<()> {
        rustix::net::sockopt::set_socket_linger(self.tcp(), Some(Duration::ZERO))?;
        Ok(())
    }

    fn tcp(&self) -> &TcpStream {
        match self.0.get_ref() {
            Kind::Plain(stream) => stream,
            Kind::Tls(tls) => &tls.sock,
        }
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl BufRead for Wire {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.get_mut() {
            Kind::Plain(stream) => stream.write(bytes),
            Kind::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.get_mut() {
            Kind::Plain(stream) => stream.flush(),
            Kind::Tls(tls) => tls.flush(),
        }
    }
}

impl Read for Kind {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }
}
