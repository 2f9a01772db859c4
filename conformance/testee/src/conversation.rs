//! One conversation after another with the suite, through the engine's own sockets and codec.
//!
//! Knows how bytes become messages; must not know cases.

use std::net::SocketAddr;
use std::sync::Arc;

use wiretrial_net::{Driver, Fill, Transport, monotonic_ns};
use wiretrial_proto::websocket::{DeflateConfig, WebSocketClient, WebSocketConfig};
use wiretrial_proto::{ClientSession as _, Event, MessageKind, Scratch};

use crate::line::{Failed, Line};

/// Longer than any case takes: the suite ends each of them by itself.
const PATIENCE_NS: u64 = 120_000_000_000;
/// The suite's longest messages have 16 MiB.
const MAX_MESSAGE: u64 = 64 * 1024 * 1024;

/// What all conversations share.
pub(crate) struct Client(Line);

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
        Ok(Self(Line::new(suite)?))
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
        let transport = self.0.connect(None, target, deadline)?;
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
        while !conversation.turn(&mut self.0.driver) {
            self.0.wait(target, deadline)?;
        }
        Ok(conversation)
    }

    fn config(&self, target: &str) -> WebSocketConfig {
        WebSocketConfig {
            host: self.0.suite.to_string(),
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
