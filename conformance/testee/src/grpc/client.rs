//! The suite's calls, each on a connection of its own.
//!
//! Knows what is sent, when it is given up, and how the suite is told what came. Must not know what is right.
//!
//! As in a load the messages of a call go at once, and the call is whole with them; or one by one, where it is taken back
//! before its end, or waits for an answer to each.

use std::io::{self, Stdin, Stdout, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use prost::Message as _;
use tempfile::NamedTempFile;
use wiretrial_net::{Alpn, ClientTls, ClientTlsSettings, Driver, Fill, Transport, monotonic_ns};
use wiretrial_proto::grpc::{
    ACCEPTED, Deframer, ENCODING, GZIP, Gzip, Status, decoded, framed, timeout,
};
use wiretrial_proto::http1::HeadPart;
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{
    ClientSession as _, ErrorClass, Event, Message, ProtocolError, Reply, Scratch,
};

use super::messages::{
    AnswerAsItCame, CallError, CallResult, Cancel, ClientRequest, ClientResponse, FullStatus,
    Header, Trouble,
};
use super::{BINARY, DETAILS, fields, listed, read, write};
use crate::line::{Failed, Line};

/// Calls at a time: most of them wait.
const AT_ONCE: usize = 8;
/// Longer than any case takes.
const PATIENCE: u64 = 20 * SECOND;
const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const SERVICE: &str = "connectrpc.conformance.v1.ConformanceService";

/// How the suite numbers gzip.
const COMPRESSION_GZIP: i32 = 2;
/// And a method whose answers each have a message before them.
const FULL_DUPLEX: i32 = 5;

// How a client numbers what it finds itself.
const CANCELLED: u16 = 1;
const UNKNOWN: u16 = 2;
const DEADLINE_EXCEEDED: u16 = Status::DEADLINE_EXCEEDED.0;
const UNIMPLEMENTED: u16 = Status::UNIMPLEMENTED.0;
const INTERNAL: u16 = Status::INTERNAL.0;
const UNAVAILABLE: u16 = 14;
const PERMISSION_DENIED: u16 = 7;
const UNAUTHENTICATED: u16 = 16;

/// Makes each call that the suite wants, until it wants no more.
pub(crate) fn call() -> Result<(), Failed> {
    let (input, output) = (Mutex::new(io::stdin()), Mutex::new(io::stdout()));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| work(&input, &output))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })
}

fn work(input: &Mutex<Stdin>, output: &Mutex<Stdout>) -> Result<(), Failed> {
    loop {
        let wanted = {
            let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
            read::<ClientRequest>(&mut *input)?
        };
        let Some(wanted) = wanted else { return Ok(()) };
        let (response, error) = match made(&wanted) {
            Ok(result) => (Some(result), None),
            Err(failed) => (None, Some(Trouble { message: failed.to_string() })),
        };
        let told = ClientResponse { test_name: wanted.test_name, response, error };
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        write(&told, &mut *output)?;
        output.flush().map_err(Failed::Suite)?;
    }
}

fn made(wanted: &ClientRequest) -> Result<CallResult, Failed> {
    let limit = monotonic_ns() + PATIENCE;
    let ip: IpAddr = wanted.host.parse().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let port = u16::try_from(wanted.port).unwrap_or_default();
    let tls = secured(wanted)?;
    let mut line = Line::new(SocketAddr::new(ip, port))?;
    let transport = line.connect(tls.as_ref(), &wanted.test_name, limit)?;
    let mut call = Call::of(wanted, transport, tls.is_some())?;
    while !call.turn(&mut line) {
        let now = monotonic_ns();
        if now >= limit {
            return Err(Failed::Hangs(wanted.test_name.clone()));
        }
        let due = call.next_due().map_or(limit, |due| due.min(limit));
        line.driver.wait(Some(Duration::from_nanos(due.saturating_sub(now))))?;
    }
    Ok(call.result(&mut line.driver))
}

fn secured(wanted: &ClientRequest) -> Result<Option<ClientTls>, Failed> {
    if wanted.server_tls_cert.is_empty() {
        return Ok(None);
    }
    let mut trusted = NamedTempFile::new().map_err(Failed::Suite)?;
    trusted.write_all(&wanted.server_tls_cert).map_err(Failed::Suite)?;
    Ok(Some(ClientTls::new(&ClientTlsSettings {
        ca_file: Some(trusted.path().to_owned()),
        server_name: wanted.host.clone(),
        alpn: vec![Alpn::Http2],
        ..ClientTlsSettings::default()
    })?))
}

/// One call, and what came of it so far.
struct Call {
    transport: Transport,
    codec: Http2Client,
    /// What the codec left behind.
    carry: Vec<u8>,
    /// Messages with their prefixes.
    messages: Vec<Vec<u8>>,
    /// Where they go one by one.
    open: Option<Open>,
    timeout: Option<u64>,
    cancel: Option<Cancel>,
    answers_once: bool,
    deadline: Option<u64>,
    given_up: Option<u64>,
    frames: Deframer,
    message: Vec<u8>,
    head: Vec<Header>,
    trailers: Option<Vec<Header>>,
    payloads: Vec<Vec<u8>>,
    /// How it ended: a status, and what is said of it.
    ended: Option<(u16, Option<String>)>,
}

/// A call whose end has not been said.
#[derive(Clone, Copy)]
struct Open {
    stream: u32,
    /// Messages that have gone.
    said: usize,
    /// Each is to be answered before the next one.
    waits: bool,
}

impl Open {
    /// None: all goes at once.
    fn of(wanted: &ClientRequest) -> Option<Self> {
        let cancel = wanted.cancel?;
        let waits = wanted.stream_type == FULL_DUPLEX && cancel.after_num_responses.is_none();
        let is_one_by_one = waits || cancel.before_close_send.is_some();
        is_one_by_one.then_some(Self { stream: 0, said: 0, waits })
    }
}

impl Call {
    fn of(wanted: &ClientRequest, transport: Transport, secure: bool) -> Result<Self, Failed> {
        let service = wanted.service.as_deref().unwrap_or(SERVICE);
        let target = format!("/{service}/{}", wanted.method.as_deref().unwrap_or_default());
        let authority = format!("{}:{}", wanted.host, wanted.port);
        let timeout_ns = wanted.timeout_ms.map(|ms| u64::from(ms) * MS);
        let timeout_field = timeout_ns.map(timeout);
        let own: Vec<_> = fields(&wanted.request_headers).collect();
        let said = |value| vec![HeadPart::Text(value)];
        let mut headers: Vec<_> =
            own.iter().map(|(name, value)| (name.as_str(), said(*value))).collect();
        headers.extend(timeout_field.as_ref().map(|field| ("grpc-timeout", said(field.as_str()))));
        let is_packed = wanted.compression == COMPRESSION_GZIP;
        if is_packed {
            headers.extend([ENCODING, ACCEPTED].map(|name| (name, said(GZIP))));
        }
        let scheme = if secure { "https" } else { "http" };
        let request = Http2Request::call(scheme, &target, &authority, &headers, false);
        let request = request.map_err(|bad| Failed::Request(bad.to_string()))?;
        let mut gzip = is_packed.then(Gzip::default);
        let messages = wanted.request_messages.iter().map(|message| -> Result<_, Failed> {
            let plain = framed([&message.value[..]]);
            let plain = plain.ok_or_else(|| Failed::Request("too long".to_owned()))?;
            let Some(gzip) = &mut gzip else { return Ok(plain) };
            let mut packed = Vec::new();
            gzip.messages(&plain, &mut packed);
            Ok(packed)
        });
        let messages = messages.collect::<Result<Vec<_>, _>>()?;
        let codec = Http2Client::telling_heads(Arc::from([request]), Http2Limits::default());
        let mut call = Self {
            transport,
            codec,
            carry: Vec::new(),
            open: Open::of(wanted).filter(|_| !messages.is_empty()),
            messages,
            timeout: timeout_ns,
            cancel: wanted.cancel,
            answers_once: matches!(wanted.stream_type, 1 | 2),
            deadline: None,
            given_up: None,
            frames: Deframer::default(),
            message: Vec::new(),
            head: Vec::new(),
            trailers: None,
            payloads: Vec::new(),
            ended: None,
        };
        call.codec.start(call.transport.out());
        Ok(call)
    }

    fn next_due(&self) -> Option<u64> {
        self.deadline.into_iter().chain(self.given_up).min()
    }

    /// Sends and reads what can be; true: the call is over, and all of it is said.
    fn turn(&mut self, line: &mut Line) -> bool {
        loop {
            let now = monotonic_ns();
            if self.ended.is_none() {
                if self.given_up.is_some_and(|due| due <= now) {
                    self.give_up(CANCELLED, "taken back");
                } else if self.deadline.is_some_and(|due| due <= now) {
                    self.give_up(DEADLINE_EXCEEDED, "no reply before the deadline");
                }
            }
            let is_gone = self.transport.flush(&mut line.driver).is_err();
            if self.ended.is_some() {
                return true;
            }
            let fill = if is_gone {
                Fill::End
            } else {
                self.transport.fill(&mut line.driver, &mut self.carry)
            };
            match fill {
                Fill::Data(bytes, _, _) => self.hear(bytes),
                Fill::WouldBlock => return false,
                Fill::End | Fill::Failed(_) => {
                    self.end(UNAVAILABLE, Some("the connection ended".to_owned()));
                }
            }
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        let (mut at, mut scratch) = (0, Scratch::new());
        while self.ended.is_none() {
            let step = self.codec.receive(&bytes[at..], &mut scratch, self.transport.out());
            let step = match step {
                Ok(step) => step,
                Err(error) => return self.fail(error),
            };
            at += step.consumed;
            match step.event {
                None => break,
                Some(Event::Open) => self.send(),
                // Of several heads the last one counts: those before it are interim.
                Some(Event::Head(head)) => self.head = listed(head.fields()),
                Some(Event::Trailers(trailers)) => self.trailers = Some(listed(trailers.fields())),
                Some(Event::Chunk { piece, .. }) => self.take(piece),
                Some(Event::Reply(Reply { status, payload, .. })) => {
                    self.take(payload);
                    self.replied(status);
                }
                Some(Event::Failed { error, .. }) => self.fail(error),
                Some(Event::Unprocessed { .. } | Event::Leaving) => {
                    self.end(UNAVAILABLE, Some("the server refused the call".to_owned()));
                }
                Some(_) => {}
            }
        }
        self.carry.extend_from_slice(&bytes[at..]);
    }

    fn send(&mut self) {
        let now = monotonic_ns();
        self.deadline = self.timeout.map(|timeout| now + timeout);
        if let Some(mut open) = self.open {
            let first = Message::new(0, &self.messages[0]);
            let stream = self.codec.encode_first(&first, self.transport.out());
            (open.stream, open.said) = (stream.unwrap_or_default(), 1);
            self.open = Some(open);
            return self.go_on();
        }
        if let Some(cancel) = self.cancel
            && cancel.after_num_responses.is_none()
        {
            let after = u64::from(cancel.after_close_send_ms.unwrap_or_default());
            self.given_up = Some(now + after * MS);
        }
        let content = self.messages.concat();
        self.codec.encode(&Message::new(0, &content), self.transport.out());
    }

    /// Says what may be said now of a call that is open: the next messages, and what is behind the last of them.
    fn go_on(&mut self) {
        let Some(mut open) = self.open else { return };
        while !open.waits || self.payloads.len() >= open.said {
            let Some(message) = self.messages.get(open.said) else {
                self.open = None;
                return self.all_said(open.stream);
            };
            self.codec.say(open.stream, message, false, self.transport.out());
            open.said += 1;
            self.open = Some(open);
        }
    }

    /// Takes the call back before its end, or ends it, and takes it back later.
    fn all_said(&mut self, stream: u32) {
        let Some(cancel) = self.cancel else { return };
        if cancel.before_close_send.is_some() {
            return self.give_up(CANCELLED, "taken back");
        }
        self.codec.say(stream, &[], true, self.transport.out());
        let after = u64::from(cancel.after_close_send_ms.unwrap_or_default());
        self.given_up = Some(monotonic_ns() + after * MS);
    }

    /// Content of the reply: its messages are the server's payloads.
    fn take(&mut self, mut piece: &[u8]) {
        while self.ended.is_none()
            && let Ok(Some(part)) = self.frames.next(&mut piece)
        {
            self.message.extend_from_slice(part.piece);
            if !part.ends {
                continue;
            }
            match AnswerAsItCame::decode(&self.message[..]) {
                Ok(answer) => self.payloads.push(answer.payload),
                Err(error) => return self.give_up(INTERNAL, &error.to_string()),
            }
            self.message.clear();
            let most = self.cancel.and_then(|cancel| cancel.after_num_responses);
            if most.is_some_and(|most| self.payloads.len() >= most as usize) {
                self.give_up(CANCELLED, "taken back");
            }
            self.go_on();
        }
    }

    /// The reply is whole.
    fn replied(&mut self, status: u16) {
        if self.ended.is_some() {
            return;
        }
        let said = Some(decoded(self.codec.said()));
        match status {
            0 if self.answers_once && self.payloads.len() != 1 => {
                let said = format!("{} messages for one", self.payloads.len());
                self.end(UNIMPLEMENTED, Some(said));
            }
            0 => self.end(0, None),
            1..=16 => self.end(status, said),
            17..100 => self.end(UNKNOWN, said),
            http => self.end(of_http(http), Some(format!("HTTP {http}"))),
        }
    }

    fn fail(&mut self, error: ProtocolError) {
        let status = match error.class {
            ErrorClass::Reset => of_reset(error.detail),
            ErrorClass::Truncated => UNAVAILABLE,
            // What HTTP says with 200 is nothing that a call has.
            _ if error.detail.contains("content-type") => UNKNOWN,
            _ => INTERNAL,
        };
        self.end(status, Some(error.detail.to_owned()));
    }

    fn give_up(&mut self, status: u16, said: &str) {
        // It may be over, and then there is nothing to be given up.
        let _ = self.codec.cancel(0, self.transport.out());
        self.end(status, Some(said.to_owned()));
    }

    fn end(&mut self, status: u16, said: Option<String>) {
        self.ended.get_or_insert((status, said));
    }

    /// Closes the connection, and says what came on it.
    fn result(self, driver: &mut Driver) -> CallResult {
        self.transport.close(driver);
        let Self { head, trailers, mut payloads, ended, answers_once, message, .. } = self;
        let is_empty = payloads.is_empty() && message.is_empty();
        // A reply that is all in one has nothing before its content.
        let (head, trailers) = match trailers {
            Some(trailers) => (head, trailers),
            None if is_empty && head.iter().any(|header| header.name == "grpc-status") => {
                (Vec::new(), head)
            }
            None => (head, Vec::new()),
        };
        let error = ended.filter(|(status, _)| *status != 0).map(|(status, message)| {
            let details = trailers.iter().find(|header| header.name == DETAILS);
            let bytes = details.and_then(|header| BINARY.decode(header.value.first()?).ok());
            let details = bytes.and_then(|bytes| FullStatus::decode(&bytes[..]).ok());
            let details = details.map(|found| found.details).unwrap_or_default();
            CallError { code: status.into(), message, details }
        });
        if error.is_some() && answers_once {
            payloads.clear();
        }
        CallResult { response_headers: head, payloads, error, response_trailers: trailers }
    }
}

/// What a client makes of a reply that is none of gRPC.
const fn of_http(status: u16) -> u16 {
    match status {
        400 => INTERNAL,
        401 => UNAUTHENTICATED,
        403 => PERMISSION_DENIED,
        404 => UNIMPLEMENTED,
        429 | 502 | 503 | 504 => UNAVAILABLE,
        _ => UNKNOWN,
    }
}

/// What a client makes of a stream that is reset.
fn of_reset(detail: &str) -> u16 {
    match detail.rsplit(' ').next() {
        Some("REFUSED_STREAM") => UNAVAILABLE,
        Some("CANCEL") => CANCELLED,
        Some("ENHANCE_YOUR_CALM") => Status::RESOURCE_EXHAUSTED.0,
        Some("INADEQUATE_SECURITY") => PERMISSION_DENIED,
        _ => INTERNAL,
    }
}
