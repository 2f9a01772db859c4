//! A TCP stream whose reads and writes end when the time of an exchange is over.
//!
//! tungstenite's blocking calls have no timeout of their own, and a socket's bounds each read
//! alone.

use std::cell::Cell;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tungstenite::http::Uri;

/// The time of an exchange, shared by the stream and whoever restarts it.
#[derive(Clone)]
pub struct Clock {
    timeout: Duration,
    deadline: Rc<Cell<Instant>>,
}

impl Clock {
    /// It runs from now on.
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, deadline: Rc::new(Cell::new(Instant::now() + timeout)) }
    }

    /// It runs from now on, anew.
    pub fn restart(&self) {
        self.deadline.set(Instant::now() + self.timeout);
    }

    fn check(&self) -> Result<()> {
        if Instant::now() < self.deadline.get() {
            return Ok(());
        }
        let words = format!("no reply within {} s", self.timeout.as_secs_f64());
        Err(Error::new(ErrorKind::TimedOut, words))
    }

    /// How long a blocked call waits until it looks at the clock.
    fn tick(&self) -> Duration {
        (self.timeout / 10).max(Duration::from_millis(1))
    }
}

/// The stream.
pub struct Bounded {
    stream: TcpStream,
    clock: Clock,
}

impl Bounded {
    /// Connects as tungstenite's own `connect` does, with TCP_NODELAY.
    pub fn connect(uri: &Uri, clock: Clock) -> Result<Self> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("wss") { 443 } else { 80 });
        let mut refusal = Error::new(ErrorKind::NotFound, format!("{host} has no address"));
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, clock.timeout) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(clock.tick()))?;
                    stream.set_write_timeout(Some(clock.tick()))?;
                    return Ok(Self { stream, clock });
                }
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }

    fn until_done(
        &mut self,
        mut call: impl FnMut(&mut TcpStream) -> Result<usize>,
    ) -> Result<usize> {
        loop {
            self.clock.check()?;
            match call(&mut self.stream) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.until_done(|stream| stream.read(buffer))
    }
}

impl Write for Bounded {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        self.until_done(|stream| stream.write(buffer))
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}
