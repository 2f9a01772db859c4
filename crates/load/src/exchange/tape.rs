//! The tape that runs while users act one after the other: what each step sends, and what comes of it.
//!
//! Knows one step at a time. Must not know whose turn is next.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use wiretrial_proto::{http2, http3};

use super::Exchange;
use super::reply::Coming;
use crate::clock::Nanos;
use crate::measure::Class;
use crate::plan::traffic::Deed;
use crate::source::traffic::{Opening, Verdict};
use crate::source::{Payloads, Progress, Verifier};

/// A step of a session, and its round among steps that are done again.
type Step = (usize, u64);

/// Exchanges, as they come to be.
#[derive(Debug)]
pub(crate) struct Tape {
    /// Scheme and authority of all URLs.
    origin: String,
    /// So much is told of each content, bytes.
    most: usize,
    /// What is sent, and what is right, where the plan has one message.
    one: Option<Box<OneMessage>>,
    /// Sessions that have begun, and those that have ended.
    sessions: (u64, u64),
    /// URL of the conversation that is open.
    opened: String,
    /// Messages that were awaited, by the step that did.
    heard: Vec<Heard>,
    now: Option<Now>,
    done: Vec<Exchange>,
}

/// The step that is on its way.
#[derive(Debug, Default)]
struct Now {
    at: Step,
    /// All that is known before a reply comes.
    exchange: Exchange,
    reply: Coming,
}

/// A message that was awaited.
#[derive(Debug)]
struct Heard {
    at: Step,
    message: Vec<u8>,
    checks: Vec<super::Verdict>,
}

/// A step that begins.
#[derive(Debug)]
pub(crate) struct Begun<'b> {
    pub(crate) flow: &'b str,
    pub(crate) route: &'b str,
    pub(crate) connection: u32,
    pub(crate) at: Step,
    /// None: it is a request.
    pub(crate) deed: Option<Deed>,
}

/// The message of a plan that has no traffic: its payload, and what a right reply carries.
#[derive(Debug)]
pub(crate) struct OneMessage {
    payloads: Payloads,
    verifier: Verifier,
    /// Number of the message that is on its way, and how far its reply has come.
    number: u64,
    progress: Progress,
}

impl OneMessage {
    pub(crate) fn new(payloads: Payloads, verifier: Verifier) -> Self {
        Self { payloads, verifier, number: 0, progress: Progress::default() }
    }
}

impl Tape {
    pub(crate) fn new(origin: String, most: usize, one: Option<Box<OneMessage>>) -> Self {
        Self {
            origin,
            most,
            one,
            sessions: (0, 0),
            opened: String::new(),
            heard: Vec::new(),
            now: None,
            done: Vec::new(),
        }
    }

    /// Exchanges that are over, since this was last asked.
    pub(crate) fn take(&mut self) -> Vec<Exchange> {
        std::mem::take(&mut self.done)
    }

    /// Sessions that have ended.
    pub(crate) fn ended(&self) -> u64 {
        self.sessions.1
    }

    /// A step begins; with the first one its session does.
    pub(crate) fn begin(&mut self, Begun { flow, route, connection, at, deed }: Begun<'_>) {
        if at.0 == 0 {
            self.sessions.0 += 1;
            self.heard.clear();
        }
        let method = deed.map_or("", |deed| match deed {
            Deed::Open => "OPEN",
            Deed::Send => "SEND",
            Deed::Await => "AWAIT",
            Deed::Close => "CLOSE",
        });
        let exchange = Exchange {
            flow: self.one.is_none().then(|| flow.to_owned()),
            session: self.sessions.0 - 1,
            connection,
            route: route.to_owned(),
            method: method.to_owned(),
            url: if deed.is_some() { self.opened.clone() } else { String::new() },
            ..Exchange::default()
        };
        self.now = Some(Now { at, exchange, reply: Coming::default() });
    }

    /// A session has ended.
    pub(crate) fn end_session(&mut self) {
        self.sessions.1 += 1;
    }

    /// What the message with this number carries, where the plan has one message.
    pub(crate) fn payload(&mut self, number: u64) -> Option<&[u8]> {
        let one = self.one.as_mut()?;
        one.number = number;
        Some(one.payloads.get(number))
    }

    /// The step's request, as it goes, for the first time or again.
    pub(crate) fn requested(&mut self, bytes: &[u8]) {
        let Some(Now { exchange, reply, .. }) = &mut self.now else { return };
        *reply = Coming::default();
        let of_streams = http2::sent_request(bytes).or_else(|| http3::sent_request(bytes));
        if let Some((fields, body)) = of_streams {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let said = |name: &[u8]| fields.get(name).map(text).unwrap_or_default();
            exchange.method = said(b":method");
            exchange.url = format!("{}{}", self.origin, said(b":path"));
            let own = fields.iter().filter(|(name, _)| !name.starts_with(b":"));
            exchange.request_headers = own.map(|(name, value)| (text(name), text(value))).collect();
            exchange.request_body = BASE64_STANDARD.encode(&body[..body.len().min(self.most)]);
            return;
        }
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let (head, body) = end.map_or((bytes, &[][..]), |end| (&bytes[..end], &bytes[end + 4..]));
        let head = String::from_utf8_lossy(head);
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        words.next().unwrap_or_default().clone_into(&mut exchange.method);
        exchange.url = format!("{}{}", self.origin, words.next().unwrap_or_default());
        let fields = lines.filter_map(|line| line.split_once(": "));
        exchange.request_headers =
            fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        exchange.request_body = BASE64_STANDARD.encode(&body[..body.len().min(self.most)]);
    }

    /// How the step opens its connection.
    pub(crate) fn opens(&mut self, Opening { target, headers }: &Opening) {
        self.opened = format!("{}{target}", self.origin);
        let Some(Now { exchange, .. }) = &mut self.now else { return };
        exchange.url.clone_from(&self.opened);
        exchange.request_headers.clone_from(headers);
    }

    /// The message that the step sends.
    pub(crate) fn says(&mut self, message: &[u8]) {
        let Some(Now { exchange, .. }) = &mut self.now else { return };
        exchange.request_body = BASE64_STANDARD.encode(&message[..message.len().min(self.most)]);
    }

    /// A reply begins.
    pub(crate) fn head<'f>(
        &mut self,
        status: u16,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8])>,
    ) {
        if let Some(Now { reply, .. }) = &mut self.now {
            reply.head(status, fields);
        }
        if let Some(one) = &mut self.one {
            one.progress.clear();
        }
    }

    /// It is over with this status, which stands behind its content.
    pub(crate) fn ended_with(&mut self, status: u16) {
        if let Some(Now { reply, .. }) = &mut self.now {
            reply.status = Some(status);
        }
    }

    /// A piece of its content.
    pub(crate) fn piece(&mut self, piece: &[u8]) {
        if let Some(Now { reply, .. }) = &mut self.now {
            reply.piece(piece, self.most);
        }
        if let Some(OneMessage { payloads, verifier, number, progress }) = self.one.as_deref_mut() {
            verifier.update(progress, *number, piece, payloads);
        }
    }

    /// All of its content came. Is it right, where the plan has one message?
    ///
    /// # Errors
    /// How it differs.
    pub(crate) fn whole(&mut self) -> Result<(), String> {
        if let Some(Now { reply, .. }) = &mut self.now {
            reply.is_whole = true;
        }
        let Some(one) = self.one.as_deref_mut() else { return Ok(()) };
        let OneMessage { payloads, verifier, number, progress } = one;
        let told = verifier.finish(progress, *number, payloads);
        told.map_err(|mismatch| format!("{mismatch}{}", verifier.remedy()))
    }

    /// What became of the checks of the reply.
    pub(crate) fn checked(&mut self, verdicts: Vec<Verdict>) {
        if let Some(Now { exchange, .. }) = self.now.as_mut().filter(|_| self.one.is_none()) {
            exchange.checks = told(verdicts);
        }
    }

    /// A message that this step waits for, and what became of the checks of it.
    pub(crate) fn hears(&mut self, at: Step, message: &[u8], verdicts: Vec<Verdict>) {
        self.heard.push(Heard { at, message: message.to_vec(), checks: told(verdicts) });
    }

    /// The step is over, after so long where a reply came.
    pub(crate) fn over(
        &mut self,
        told: Result<BTreeMap<String, String>, (Class, &str)>,
        service: Option<Nanos>,
    ) {
        let Some(Now { at, mut exchange, mut reply }) = self.now.take() else { return };
        if let Some(place) = self.heard.iter().position(|heard| heard.at == at) {
            let Heard { message, checks, .. } = self.heard.swap_remove(place);
            reply.piece(&message, self.most);
            (reply.is_whole, exchange.checks) = (true, checks);
        }
        // Where nothing was to come, nothing is missing.
        reply.is_whole |= told.is_ok();
        let content = reply.content(self.most);
        exchange.body = BASE64_STANDARD.encode(&content.bytes);
        (exchange.body_bytes, exchange.is_cut) = (content.length, content.is_cut);
        (exchange.status, exchange.headers) = (reply.status, reply.headers);
        exchange.service_ns = service.map(|service| service.0);
        match told {
            Ok(captures) => {
                exchange.captures = captures;
                "ok".clone_into(&mut exchange.outcome);
            }
            Err((class, text)) => {
                class.name().clone_into(&mut exchange.outcome);
                exchange.fault = Some(text.to_owned());
            }
        }
        self.done.push(exchange);
    }
}

fn told(verdicts: Vec<Verdict>) -> Vec<super::Verdict> {
    let told = |Verdict { holds, came, fault }| super::Verdict { holds, came, fault };
    verdicts.into_iter().map(told).collect()
}
