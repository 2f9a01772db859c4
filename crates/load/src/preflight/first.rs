//! The first reply: is it right, and what did the server say before it was asked?
//!
//! Knows the plan and what came. Must not know sockets, nor how the reply was asked for.

use wiretrial_proto::grpc::{MESSAGE, Status, decoded};
use wiretrial_proto::sse::{EVENT_STREAM, is_event_stream};
use wiretrial_proto::{Event, Reply, ReplyHead};

use super::greeting::Greeting;
use crate::connection::{Ending, Testimony, UNSEEN, Witness};
use crate::measure::Class;
use crate::plan::wire::Messages;
use crate::plan::{ContentRule, Plan, Scheme};
use crate::source::traffic::is_redirect;
use crate::source::{Payloads, Progress, Verifier, excerpt};

/// The most that is kept of a reply which is to be learned, bytes.
const MOST_LEARNED: usize = 64 << 20;
/// More than is shown of a reply that is not learned, bytes.
const SHOWN: usize = 256;
/// What to do where the first reply is no echo.
const NO_ECHO: &str =
    "; where the server does not echo, use --expect status, json:PATH=VALUE or regex:PATTERN";

/// A class, and a line for people.
type Wrong = (Class, String);

/// What comes on the connection of the preflight.
pub(super) struct FirstReply<'p> {
    plan: &'p Plan,
    /// Of the message that it answers.
    number: u64,
    /// What the server says before it is asked.
    pub(super) greeting: Greeting,
    handshake: Handshake,
    /// The message was sent, or began to be.
    pub(super) asked: bool,
    /// It came whole, and was right.
    pub(super) came: bool,
    /// What is right; none: what is to be learned.
    verifier: Option<Verifier>,
    progress: Progress,
    /// All of the reply where it is learned, and else its beginning.
    content: Vec<u8>,
    /// It is a stream of events.
    pub(super) streams: bool,
    /// Where it leads; empty: nowhere.
    location: Vec<u8>,
    /// What is said of the status of a call; empty: nothing.
    said: String,
}

/// How far the protocol's own handshake has come, where it has one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handshake {
    Pending,
    Over,
}

/// The content of a right first reply.
pub(super) struct Content {
    /// All of it where it is learned, and else its beginning.
    pub(super) bytes: Vec<u8>,
    /// Length of the whole.
    pub(super) length: u64,
    /// It is what was sent.
    pub(super) echoes: bool,
}

impl<'p> FirstReply<'p> {
    pub(super) fn new(plan: &'p Plan, number: u64) -> Self {
        let rule = &plan.target.expect.content;
        let is_known = *rule != ContentRule::Learned;
        Self {
            plan,
            number,
            greeting: Greeting::of(plan),
            handshake: Handshake::Pending,
            asked: false,
            came: false,
            verifier: is_known.then(|| Verifier::new(rule)),
            progress: Progress::default(),
            content: Vec::new(),
            streams: false,
            location: Vec::new(),
            said: String::new(),
        }
    }

    /// What came.
    pub(super) fn into_content(self, payloads: &mut Payloads) -> Content {
        // A long payload is not made whole for nothing.
        let echoes = self.verifier.is_none()
            && !self.content.is_empty()
            && self.content == payloads.get(self.number);
        Content { bytes: self.content, length: self.progress.received, echoes }
    }

    fn look(&mut self, event: &Event<'_>, payloads: &mut Payloads) -> Result<(), Wrong> {
        match event {
            Event::Chunk { piece, .. } => self.keep(piece, payloads)?,
            Event::Reply(reply) => {
                self.keep(reply.payload, payloads)?;
                self.check_status(reply)?;
                self.finish(payloads)?;
            }
            Event::Delivery(copy) if copy.own => {
                if !copy.intact {
                    let text = "the first copy was not what its message was".to_owned();
                    return Err((Class::Mismatch, text));
                }
                if let Some(payload) = copy.payload {
                    self.keep(payload, payloads)?;
                    self.finish(payloads)?;
                }
                self.came = true;
            }
            Event::Failed { error, .. } | Event::Parted(error) => {
                return Err((error.class.into(), error.to_string()));
            }
            Event::Close(close) => {
                let text = format!("the server closed with code {}", close.code);
                return Err((Class::Closed, text));
            }
            Event::Trailers(head) => self.hear(head),
            Event::Head(head) => {
                self.hear(head);
                self.look_at_kind(head)?;
                let mut fields = head.fields();
                let named = fields.find(|(name, _)| name.eq_ignore_ascii_case(b"location"));
                self.location = named.map_or(Vec::new(), |(_, value)| value.to_vec());
            }
            Event::Unprocessed { .. } | Event::Leaving => {
                return Err((Class::Closed, UNSEEN.to_owned()));
            }
            Event::Open | Event::Room | Event::Delivery(_) | Event::Bulletin(_) => {}
        }
        Ok(())
    }

    fn is_of_websocket(&self) -> bool {
        self.plan.target.url.scheme == Scheme::WebSocket
    }

    /// Keeps what is said of the status of a call.
    fn hear(&mut self, fields: &ReplyHead<'_>) {
        let mut all = fields.fields();
        let text = all.find(|(name, _)| *name == MESSAGE.as_bytes()).map(|(_, value)| value);
        self.said = text.map_or_else(String::new, |text| format!(": {}", decoded(text)));
    }

    /// Is it a stream of events? One that is to be such has shown it with its head.
    fn look_at_kind(&mut self, head: &ReplyHead<'_>) -> Result<(), Wrong> {
        let is_it = |field: &(&[u8], &[u8])| field.0.eq_ignore_ascii_case(b"content-type");
        let kind = head.fields().find(is_it).map_or(&b""[..], |(_, value)| value);
        let target = &self.plan.target;
        self.streams = is_event_stream(kind);
        if !target.sse || head.status != target.expect.status {
            return Ok(());
        }
        if !self.streams {
            let shown = excerpt(kind);
            let text = format!(
                "the server answered with content of type '{shown}', not with a stream of events ({EVENT_STREAM}): leave --sse out, or check the URL"
            );
            return Err((Class::Mismatch, text));
        }
        self.came = true;
        Ok(())
    }

    fn keep(&mut self, piece: &[u8], payloads: &mut Payloads) -> Result<(), Wrong> {
        if let Some(verifier) = &self.verifier {
            let room = SHOWN.saturating_sub(self.content.len());
            self.content.extend_from_slice(&piece[..piece.len().min(room)]);
            verifier.update(&mut self.progress, self.number, piece, payloads);
            return Ok(());
        }
        if self.content.len() + piece.len() > MOST_LEARNED {
            let text = format!(
                "the first reply is over {} MiB, too much to learn by heart: say what is expected",
                MOST_LEARNED >> 20
            );
            return Err((Class::TooBig, text));
        }
        self.content.extend_from_slice(piece);
        self.progress.received += piece.len() as u64;
        Ok(())
    }

    fn check_status(&self, reply: &Reply<'_>) -> Result<(), Wrong> {
        let target = &self.plan.target;
        let (status, right) = (reply.status, target.expect.status);
        if target.url.scheme != Scheme::Http || status == right {
            return Ok(());
        }
        if target.grpc.is_some() {
            let (status, right, said) = (Status(status), Status(right), &self.said);
            let text = format!(
                "the server answered the call with status {status}, not {right}{said}; check the method and the message, or say which status is right"
            );
            return Err((Class::Status, text));
        }
        if is_redirect(status) && !self.location.is_empty() {
            let to = excerpt(&self.location);
            let text = format!(
                "the server redirects (status {status}) to {to}: load that URL, or use --expect-status {status} to load the redirect itself"
            );
            return Err((Class::Status, text));
        }
        let text = format!(
            "the server answered with status {status}, not {right}: check the URL and the method {}, or say which status is right",
            target.method
        );
        Err((Class::Status, text))
    }

    /// All of it is here.
    fn finish(&mut self, payloads: &mut Payloads) -> Result<(), Wrong> {
        if let Some(verifier) = &self.verifier {
            let length = self.progress.received;
            let content = verifier.finish(&mut self.progress, self.number, payloads);
            content.map_err(|mismatch| {
                let is_echo = self.plan.target.expect.content == ContentRule::Echo;
                let remedy = if is_echo { NO_ECHO } else { "" };
                let text = format!("the first reply was not what is expected: {mismatch}{remedy}");
                (Class::Mismatch, text)
            })?;
            self.progress.received = length;
        }
        if let Some(calls) = self.plan.target.grpc.filter(|_| self.verifier.is_none()) {
            let count = Messages { wire: None, count: calls.replies };
            let counted = Verifier::new(&ContentRule::Messages(count));
            counted.check(self.number, &self.content, payloads).map_err(|mismatch| {
                let text = format!("the first reply was not what is expected: {mismatch}");
                (Class::Mismatch, text)
            })?;
        }
        self.came = true;
        Ok(())
    }
}

impl Witness for FirstReply<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> Testimony {
        if self.asked || self.plan.target.url.scheme != Scheme::Stream {
            return Testimony::GoOn;
        }
        let (class, text) = Greeting::stream(bytes);
        Testimony::End(Ending::Failed(class, text))
    }

    fn event(&mut self, event: &Event<'_>, payloads: &mut Payloads) -> Testimony {
        if !self.asked {
            match event {
                Event::Chunk { piece, .. } => self.greeting.piece(piece),
                Event::Reply(reply) => self.greeting.message(reply.payload),
                Event::Delivery(_) => {}
                // It was asked for a WebSocket on a stream.
                Event::Leaving
                    if self.handshake == Handshake::Pending && self.is_of_websocket() =>
                {
                    return Testimony::End(Ending::Failed(Class::Closed, UNSEEN.to_owned()));
                }
                _ => {
                    if matches!(event, Event::Open) {
                        self.handshake = Handshake::Over;
                    }
                    return Testimony::GoOn;
                }
            }
            return Testimony::Kept;
        }
        match self.look(event, payloads) {
            Ok(()) => Testimony::GoOn,
            Err((class, text)) => Testimony::End(Ending::Failed(class, text)),
        }
    }
}
