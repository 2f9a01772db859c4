//! One request over HTTP/2, and whatever the suite's server makes of it.
//!
//! Knows one connection and one GET. It stays until the suite takes its leave, or has broken a rule:
//! then it says so, as the engine does, and listens until the suite has heard it. Must not know which
//! rule a case is about.
//!
//! The suite begins its case again with each connection, and keeps the last verdict: a load would
//! bring several.

use std::sync::Arc;

use wiretrial_net::{Alpn, ClientTls, ClientTlsSettings, Driver, Fill, Transport, monotonic_ns};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession as _, Event, Message, Scratch};

use crate::line::{Failed, Line};

/// The suite gives up on a client after three seconds.
const PATIENCE_NS: u64 = 2_800_000_000;
/// How the suite takes its leave: the head of a GOAWAY frame without words.
const FAREWELL: [u8; 9] = [0, 0, 8, 7, 0, 0, 0, 0, 0];
/// Of such a frame, bytes.
const FAREWELL_LENGTH: usize = 17;

/// Asks for `url` once.
pub(crate) fn ask(url: &str) -> Result<(), Failed> {
    let no_url = || Failed::Url(url.to_owned());
    let (scheme, rest) = url.split_once("://").ok_or_else(no_url)?;
    let authority = rest.trim_end_matches('/');
    let address = authority.parse().map_err(|_| no_url())?;
    let tls = match scheme {
        "http" => None,
        "https" => Some(ClientTls::new(&ClientTlsSettings {
            insecure: true,
            server_name: "localhost".to_owned(),
            alpn: vec![Alpn::Http2],
            ..ClientTlsSettings::default()
        })?),
        _ => return Err(no_url()),
    };
    let deadline = monotonic_ns() + PATIENCE_NS;
    let mut line = Line::new(address)?;
    let transport = line.connect(tls.as_ref(), url, deadline)?;
    let target = [HeadPart::Text("/")];
    let none = PayloadLength::None;
    let get = Http2Request::with_holes(scheme, "GET", &target, authority, &[], false, none);
    let requests = Arc::from([get.map_err(|_| no_url())?]);
    let codec = Http2Client::new(requests, Http2Limits::default());
    let mut exchange = Exchange { transport, codec, carry: Vec::new(), state: State::Talking };
    exchange.codec.start(exchange.transport.out());
    while !exchange.turn(&mut line.driver) {
        line.wait(url, deadline)?;
    }
    exchange.transport.close(&mut line.driver);
    Ok(())
}

struct Exchange {
    transport: Transport,
    codec: Http2Client,
    /// What the codec left behind.
    carry: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Talking,
    /// The suite broke a rule, and is to be told.
    Broken,
    /// It was told; what it says is read, so that no reset overtakes that.
    Told,
    Over,
}

impl Exchange {
    /// Sends and reads what can be; true: the connection is over.
    fn turn(&mut self, driver: &mut Driver) -> bool {
        loop {
            if self.state == State::Over || self.transport.flush(driver).is_err() {
                return true;
            }
            if self.state == State::Broken {
                self.transport.shutdown_write(driver);
                self.state = State::Told;
            }
            match self.transport.fill(driver, &mut self.carry) {
                Fill::Data(bytes, _, _) => self.hear(bytes),
                Fill::WouldBlock => return false,
                Fill::End | Fill::Failed(_) => return true,
            }
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        if self.state == State::Told {
            let last = &bytes[bytes.len().saturating_sub(FAREWELL_LENGTH)..];
            if last.starts_with(&FAREWELL) {
                self.state = State::Over;
            }
            return;
        }
        let (mut at, mut scratch) = (0, Scratch::new());
        loop {
            let step = self.codec.receive(&bytes[at..], &mut scratch, self.transport.out());
            let Ok(step) = step else {
                self.state = State::Broken;
                return;
            };
            at += step.consumed;
            match step.event {
                None => break,
                Some(Event::Open) => {
                    self.codec.encode(&Message::new(0, b""), self.transport.out());
                }
                Some(Event::Leaving) => self.state = State::Over,
                Some(Event::Reply(reply)) if reply.last => self.state = State::Over,
                // The case goes on behind the reply, and behind a failure on its stream.
                Some(_) => {}
            }
        }
        self.carry.extend_from_slice(&bytes[at..]);
    }
}
