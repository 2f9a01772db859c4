//! One conversation after another with the suite, through the engine's own sockets and codec.
//!
//! Knows how bytes become messages; must not know cases.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use wiretrial_net::{
    ConnectSpec, Driver, DriverConfig, Fill, Key, NetError, Transport, monotonic_ns,
};
use wiretrial_proto::websocket::{DeflateConfig, WebSocketClient, WebSocketConfig};
use wiretrial_proto::{ClientSession as _, Event, MessageKind, Scratch};

/// Longer than any case takes: the suite ends each of them by itself.
const PATIENCE_NS: u64 = 120_000_000_000;
/// The suite's longest messages have 16 MiB.
const MAX_MESSAGE: u64 = 64 * 1024 * 1024;

/// Why the suite could not be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// The machine refused.
    #[error("the suite is out of reach: {0}")]
    Net(#[from] NetError),
    /// No entropy.
    #[error("the system gives no random numbers: {0}")]
    Entropy(getrandom::Error),
    /// A case without an end.
    #[error("{0} did not end within two minutes")]
    Hangs(String),
    /// The answer to `/getCaseCount` was something else.
    #[error("the suite did not say how many cases it has")]
    NoCount,
}

/// What all conversations share.
pub(crate) struct Client {
    suite: SocketAddr,
    driver: Driver,
    /// Conversations so far: readiness of an ended one must not be taken for the present one's.
    conversations: u32,
}

/// One conversation's state.
struct Conversation {
    transport: Transport,
    codec: WebSocketClient,
    /// What the codec left behind.
    carry: Vec<u8>,
    /// The message that is coming.
    message: Vec<u8>,
    /// The last message that came whole.
    last: Vec<u8>,
    echoes: bool,
}

impl Client {
    pub(crate) fn new(suite: SocketAddr) -> Result<Self, Failed> {
        let driver = Driver::new(&DriverConfig::default())?;
        Ok(Self { suite, driver, conversations: 0 })
    }

    /// Listens until the suite closes; the last message it sent.
    pub(crate) fn read(&mut self, target: &str) -> Result<Vec<u8>, Failed> {
        Ok(self.converse(target, false)?.last)
    }

    /// Answers every message with the same until the suite closes.
    pub(crate) fn echo(&mut self, target: &str) -> Result<(), Failed> {
        self.converse(target, true).map(drop)
    }

    fn converse(&mut self, target: &str, echoes: bool) -> Result<Conversation, Failed> {
        let deadline = monotonic_ns() + PATIENCE_NS;
        let transport = self.connect(target, deadline)?;
        let codec = WebSocketClient::new(Arc::new(self.config(target)), entropy()?);
        let mut conversation = Conversation {
            transport,
            codec,
            carry: Vec::new(),
            message: Vec::new(),
            last: Vec::new(),
            echoes,
        };
        conversation.codec.start(conversation.transport.out());
        while !conversation.turn(&mut self.driver) {
            self.wait(target, deadline)?;
        }
        Ok(conversation)
    }

    fn connect(&mut self, target: &str, deadline: u64) -> Result<Transport, Failed> {
        self.conversations += 1;
        let key = Key { slot: 0, generation: self.conversations };
        let spec =
            ConnectSpec { peer: self.suite, source: None, nodelay: true, receive_buffer: None };
        let mut socket = self.driver.connect(key, &spec)?;
        loop {
            while let Some(ready) = self.driver.next() {
                if ready.key == key && ready.connected {
                    self.driver.connect_result(&mut socket)?;
                    return Ok(Transport::plain(socket));
                }
            }
            self.wait(target, deadline)?;
        }
    }

    fn wait(&mut self, target: &str, deadline: u64) -> Result<(), Failed> {
        let Some(left) = deadline.checked_sub(monotonic_ns()) else {
            return Err(Failed::Hangs(target.to_owned()));
        };
        Ok(self.driver.wait(Some(Duration::from_nanos(left)))?)
    }

    fn config(&self, target: &str) -> WebSocketConfig {
        WebSocketConfig {
            host: self.suite.to_string(),
            target: target.to_owned(),
            headers: Vec::new(),
            subprotocols: Vec::new(),
            kind: MessageKind::Binary,
            max_message: MAX_MESSAGE,
            deflate: Some(DeflateConfig::default()),
            insists_on_deflate: false,
        }
    }
}

impl Conversation {
    /// Sends and reads what can be; true: the connection is over. It may break in a case, and
    /// whether that was right is the suite's to say.
    fn turn(&mut self, driver: &mut Driver) -> bool {
        loop {
            if self.transport.flush(driver).is_err() {
                return true;
            }
            match self.transport.fill(driver, &mut self.carry) {
                Fill::Data(bytes, _, _) => self.hear(bytes),
                Fill::WouldBlock => return false,
                Fill::End | Fill::Failed(_) => return true,
            }
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        let (mut at, mut scratch) = (0, Scratch::new());
        // After an error the codec takes and ignores whatever comes; the suite hangs up.
        while let Ok(step) = self.codec.receive(&bytes[at..], &mut scratch, self.transport.out()) {
            at += step.consumed;
            match step.event {
                None => break,
                Some(Event::Chunk { piece, .. }) => self.message.extend_from_slice(piece),
                Some(Event::Reply(reply)) => {
                    self.message.extend_from_slice(reply.payload);
                    self.complete(reply.kind);
                }
                // The suite says the rest of it.
                Some(_) => {}
            }
        }
        self.carry.extend_from_slice(&bytes[at..]);
    }

    fn complete(&mut self, kind: MessageKind) {
        // A message may come behind our own close frame.
        if self.echoes && self.codec.is_open() {
            self.codec.message(kind, &self.message, self.transport.out());
        }
        std::mem::swap(&mut self.last, &mut self.message);
        self.message.clear();
    }
}

fn entropy() -> Result<[u64; 2], Failed> {
    let draw = || getrandom::u64().map_err(Failed::Entropy);
    Ok([draw()?, draw()?])
}
