//! Connections to a suite, one after the other, through the engine's own sockets.
//!
//! Knows sockets and deadlines; must not know what is said on them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use wiretrial_net::{
    ClientTls, ConnectSpec, Driver, DriverConfig, Key, NetError, Transport, monotonic_ns,
};
use wiretrial_respond::RespondError;

/// Why a suite could not be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// The machine refused.
    #[error("the suite is out of reach: {0}")]
    Net(#[from] NetError),
    /// No entropy.
    #[error("the system gives no random numbers: {0}")]
    Entropy(getrandom::Error),
    /// A case without an end.
    #[error("{0} did not end in time")]
    Hangs(String),
    /// The answer to `/getCaseCount` was something else.
    #[error("the suite did not say how many cases it has")]
    NoCount,
    /// What was to be asked for is no URL of a suite.
    #[error("{0} is no URL: give http://IP:PORT/ or https://IP:PORT/")]
    Url(String),
    /// What the suite wants cannot be read, or it cannot be told.
    #[error("the suite, or a file for it: {0}")]
    Suite(io::Error),
    /// The suite says what nobody understands.
    #[error("the suite's message is none: {0}")]
    Message(#[from] prost::DecodeError),
    /// A request that cannot be made.
    #[error("no request: {0}")]
    Request(String),
    /// The reference server.
    #[error(transparent)]
    Server(#[from] RespondError),
}

/// Where connections go, and what they share.
pub(crate) struct Line {
    pub(crate) suite: SocketAddr,
    pub(crate) driver: Driver,
    /// So far: readiness of one that has ended must not be taken for the present one's.
    connections: u32,
}

impl Line {
    pub(crate) fn new(suite: SocketAddr) -> Result<Self, Failed> {
        let driver = Driver::new(&DriverConfig::default())?;
        Ok(Self { suite, driver, connections: 0 })
    }

    /// The next connection. Its handshake, where it has one, is made when it is used.
    pub(crate) fn connect(
        &mut self,
        tls: Option<&ClientTls>,
        case: &str,
        deadline: u64,
    ) -> Result<Transport, Failed> {
        self.connections += 1;
        let key = Key { slot: 0, generation: self.connections };
        let spec = ConnectSpec {
            peer: self.suite,
            source: None,
            nodelay: true,
            receive_buffer: None,
            congestion: None,
        };
        let mut socket = self.driver.connect(key, &spec)?;
        loop {
            while let Some(ready) = self.driver.next() {
                if ready.key == key && ready.connected {
                    self.driver.connect_result(&mut socket)?;
                    let Some(tls) = tls else { return Ok(Transport::plain(socket)) };
                    return Ok(Transport::tls_client(socket, tls, &mut self.driver)?);
                }
            }
            self.wait(case, deadline)?;
        }
    }

    /// Waits until something can be read or written.
    pub(crate) fn wait(&mut self, case: &str, deadline: u64) -> Result<(), Failed> {
        let Some(left) = deadline.checked_sub(monotonic_ns()) else {
            return Err(Failed::Hangs(case.to_owned()));
        };
        Ok(self.driver.wait(Some(Duration::from_nanos(left)))?)
    }
}
