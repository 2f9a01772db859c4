//! The server of a script: one codec per connection, and one list of deeds for all.
//!
//! Knows which deed is due on which stream. Must not know the client.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use wiretrial_net::simulation::{Closed, Outcome, Peers, Wires};
use wiretrial_net::{Key, NetError};
use wiretrial_proto::Scratch;
use wiretrial_proto::http2::{Http2Event, Http2Limits, Http2Server};

use super::{Deed, Script};

/// Of the tokens of calls: look at what came.
const READ: u64 = u64::MAX;
/// The same: the bytes that left first are here.
const ARRIVED: u64 = READ - 1;

/// When, nanoseconds, and what.
type Log = Arc<Mutex<Vec<(u64, String)>>>;

/// The server.
pub(super) struct Host {
    deeds: Vec<Vec<(u64, Deed)>>,
    limits: Http2Limits,
    reads_after: u64,
    way: u64,
    log: Log,
    /// By socket.
    lines: BTreeMap<u32, Line>,
    on_message: Vec<Vec<(u64, Deed)>>,
    /// Requests that came whole, and pieces of requests.
    requests: usize,
    messages: usize,
    /// What tokens stand for: what is done, on which stream.
    due: Vec<(u32, Deed)>,
}

/// A connection.
struct Line {
    codec: Http2Server,
    carry: Vec<u8>,
    /// What has left the client and is not here.
    on_its_way: VecDeque<Vec<u8>>,
}

impl Host {
    pub(super) fn new(script: &Script, log: Log) -> Self {
        Self {
            deeds: script.deeds.clone(),
            limits: Http2Limits {
                stream_window: script.window,
                max_streams: script.streams,
                ..Http2Limits::default()
            },
            reads_after: script.reads_after,
            way: script.way,
            log,
            lines: BTreeMap::new(),
            on_message: script.on_message.clone(),
            requests: 0,
            messages: 0,
            due: Vec::new(),
        }
    }

    fn note(&self, wires: &Wires, what: String) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push((wires.now(), what));
    }

    fn read(&mut self, wires: &mut Wires, socket: u32) {
        let came = wires.take(socket, usize::MAX);
        self.hear(wires, socket, &came);
    }

    fn arrived(&mut self, wires: &mut Wires, socket: u32) {
        let came = self.lines.get_mut(&socket).and_then(|line| line.on_its_way.pop_front());
        self.hear(wires, socket, &came.unwrap_or_default());
    }

    fn hear(&mut self, wires: &mut Wires, socket: u32, came: &[u8]) {
        let Some(mut line) = self.lines.remove(&socket) else { return };
        line.carry.extend_from_slice(came);
        let (mut scratch, mut out, mut offset) = (Scratch::new(), Vec::new(), 0);
        loop {
            let step = line.codec.receive(&line.carry[offset..], &mut scratch, &mut out);
            let step = step.unwrap_or_else(|error| panic!("the client broke a rule: {error}"));
            offset += step.consumed;
            match step.event {
                None => break,
                Some(Http2Event::Request { stream, target, last_event_id, .. }) => {
                    let id = last_event_id.map(String::from_utf8_lossy);
                    let id = id.map_or(String::new(), |id| format!(" behind event {id}"));
                    let target = target.unwrap_or_default();
                    self.note(wires, format!("{socket}/{stream} asks for {target}{id}"));
                }
                Some(Http2Event::Chunk { stream, piece }) if !self.on_message.is_empty() => {
                    self.note(wires, format!("{socket}/{stream} says {} bytes", piece.len()));
                    let deeds = self.on_message.get(self.messages).cloned();
                    self.messages += 1;
                    self.plan(wires, socket, stream, deeds);
                }
                Some(Http2Event::End { stream }) => {
                    let deeds = self.deeds.get(self.requests).cloned();
                    self.requests += 1;
                    self.plan(wires, socket, stream, deeds);
                }
                Some(Http2Event::Gone { stream }) => {
                    self.note(wires, format!("{socket}/{stream} is taken back"));
                }
                Some(Http2Event::Chunk { .. } | Http2Event::Room | Http2Event::Leaving) => {}
            }
        }
        line.carry.drain(..offset);
        wires.deliver(socket, self.way, out);
        self.lines.insert(socket, line);
    }

    /// What the script says of what came follows from here on.
    fn plan(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        stream: u32,
        deeds: Option<Vec<(u64, Deed)>>,
    ) {
        for (after, deed) in deeds.into_iter().flatten() {
            wires.call(socket, after, self.due.len() as u64);
            self.due.push((stream, deed));
        }
    }

    fn act(&mut self, wires: &mut Wires, socket: u32, token: u64) {
        let Some(line) = self.lines.get_mut(&socket) else { return };
        let ((stream, deed), mut out) = (&self.due[token as usize], Vec::new());
        let stream = *stream;
        match deed {
            Deed::Head(status, fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
                line.codec.respond(stream, *status, &fields, false, &mut out);
            }
            Deed::Say(content) => drop(line.codec.content(stream, content, false, &mut out)),
            Deed::End(content) => drop(line.codec.content(stream, content, true, &mut out)),
            Deed::Trailers(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
                line.codec.trailers(stream, &fields, &mut out);
            }
            Deed::Reset(code) => line.codec.reset(stream, *code, &mut out),
            Deed::Leave(last) => {
                // The codec would name the last that came.
                out.extend_from_slice(&[0, 0, 8, 7, 0, 0, 0, 0, 0]);
                out.extend_from_slice(&last.to_be_bytes());
                out.extend_from_slice(&[0; 4]);
            }
            Deed::Finish => wires.finish(socket, self.way),
            Deed::Break => wires.reset(socket, self.way, true),
        }
        wires.deliver(socket, self.way, out);
    }
}

impl Peers for Host {
    fn admit(&mut self, _: &mut Wires, _: Key) -> Result<(), NetError> {
        Ok(())
    }

    fn connecting(&mut self, wires: &mut Wires, socket: u32, _: u32, _: Key) {
        wires.settle(socket, 2 * self.way, Outcome::Accepted);
        let (codec, carry) = (Http2Server::new(self.limits), Vec::new());
        self.lines.insert(socket, Line { codec, carry, on_its_way: VecDeque::new() });
    }

    fn received(&mut self, wires: &mut Wires, socket: u32) {
        if self.way > 0 {
            let Some(line) = self.lines.get_mut(&socket) else { return };
            line.on_its_way.push_back(wires.take(socket, usize::MAX));
            wires.call(socket, self.way, ARRIVED);
        } else if self.reads_after == 0 {
            self.read(wires, socket);
        } else {
            wires.call(socket, self.reads_after, READ);
        }
    }

    fn closed(&mut self, wires: &mut Wires, socket: u32, _: Closed) {
        if self.reads_after == 0 && self.way == 0 {
            self.read(wires, socket);
        }
        self.lines.remove(&socket);
    }

    fn called(&mut self, wires: &mut Wires, socket: u32, token: u64) {
        match token {
            READ => self.read(wires, socket),
            ARRIVED => self.arrived(wires, socket),
            token => self.act(wires, socket, token),
        }
    }
}
