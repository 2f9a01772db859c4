//! Content on its way out, as far as the peer's windows let it.
//!
//! Knows windows, and for how long content waited for which; must not know what the content is.

use std::collections::VecDeque;

use super::{Connection, Side};
use crate::http2::allowance::Http2Use;
use crate::http2::frame::{self, FrameHead, HEAD, Kind, WIDEST};

/// Content that waits for a window, the oldest message's first.
#[derive(Debug, Default)]
pub(super) struct Held {
    queue: VecDeque<Content>,
    /// Some of it has not been told [when it went](Self::went).
    is_fresh: bool,
}

#[derive(Debug, Default)]
struct Content {
    id: u32,
    bytes: Vec<u8>,
    /// How much of it has gone.
    gone: usize,
    /// Nothing comes behind it.
    is_end: bool,
    /// What ends the stream behind it, where that is a block of fields.
    trailers: Option<Vec<u8>>,
    /// It is the stream's window that it waits for; else the connection's alone.
    by_stream: bool,
    /// Since when; none: since what was encoded with it goes out.
    since: Option<u64>,
}

impl Content {
    /// Counts how long it has waited, and waits on for whichever it is now.
    fn count(&mut self, now: u64, used: &mut Http2Use) {
        let waited = self.since.replace(now).map_or(0, |since| now - since);
        if self.by_stream {
            used.held_by_stream_ns += waited;
        } else {
            used.held_by_connection_ns += waited;
        }
    }
}

impl Held {
    /// The rest of this stream's content goes nowhere.
    pub(super) fn forget(&mut self, id: u32, now: u64, used: &mut Http2Use) {
        for content in self.queue.iter_mut().filter(|content| content.id == id) {
            content.count(now, used);
        }
        self.queue.retain(|content| content.id != id);
    }

    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// What was encoded went out.
    #[cold]
    pub(super) fn went(&mut self, now: u64) {
        self.is_fresh = false;
        for content in &mut self.queue {
            content.since.get_or_insert(now);
        }
    }

    /// Nothing waits any longer.
    pub(super) fn settle(&mut self, now: u64, used: &mut Http2Use) {
        self.queue.iter_mut().for_each(|content| content.count(now, used));
        self.queue.clear();
    }
}

impl<M: Default> Connection<M> {
    /// Opens a stream, and appends all that we say on it: a block of fields, and content behind it. Gives its
    /// number; none: there are no more.
    #[inline]
    pub(in crate::http2) fn ask(
        &mut self,
        message: M,
        block: &[u8],
        content: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<u32> {
        let most = self.peer.max_frame as usize;
        let room = self.peer.initial_window.min(self.send_window) as usize;
        // What is read frame by frame goes to the table anyway.
        let is_plain = self.repeats.is_some() && content.len() <= room.min(most);
        let id = self.next_number()?;
        if is_plain {
            self.streams.ask(id, message, content.len() as u32);
        } else {
            self.streams.open(id, message);
        }
        let flags = if content.is_empty() { frame::END_STREAM } else { 0 };
        frame::write_block(id, flags, block, most, out);
        if is_plain && !content.is_empty() {
            self.send_window -= content.len() as u32;
            frame::write(Kind::Data, frame::END_STREAM, id, content, out);
        } else if !content.is_empty() {
            self.send(id, content, true, out);
        }
        Some(id)
    }

    /// The same of a stream on which more content follows.
    pub(in crate::http2) fn begin(
        &mut self,
        message: M,
        block: &[u8],
        content: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<u32> {
        let id = self.open(message)?;
        self.stream(id)?.we_go_on = true;
        frame::write_block(id, 0, block, self.peer.max_frame as usize, out);
        self.send(id, content, false, out);
        Some(id)
    }

    /// Opens so many more streams and says on each what was said on the one that was opened last: its frames are what
    /// stands in the output from `begin` on, with so many bytes of content. False, and nothing is done, where not
    /// all of it may go at once, or has not gone there.
    #[inline]
    pub(in crate::http2) fn ask_again(
        &mut self,
        (count, message): (u32, impl Fn(u32) -> M),
        content: usize,
        begin: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(head) = FrameHead::read(&out[begin..]) else { return false };
        let behind = HEAD + head.length;
        let (one, all) = (out.len() - begin, u64::from(count) * content as u64);
        let is_whole = one == behind + if content > 0 { HEAD + content } else { 0 };
        let last = u64::from(self.next) + 2 * u64::from(count);
        let has_room = self.repeats.is_some()
            && content <= self.peer.initial_window as usize
            && all <= self.send_window.into()
            && last <= (WIDEST / 2).into();
        if !is_whole || !has_room {
            return false;
        }
        let mut left = count as usize;
        while left > 0 {
            let there = out.len() - begin;
            let copied = there.min(left * one);
            out.extend_from_within(begin..begin + copied);
            left -= copied / one;
        }
        let first = self.next;
        for (bytes, place) in out[begin + one..].chunks_exact_mut(one).zip(0..) {
            let id = (first + 2 * place).to_be_bytes();
            bytes[HEAD - id.len()..HEAD].copy_from_slice(&id);
            if content > 0 {
                bytes[behind + HEAD - id.len()..behind + HEAD].copy_from_slice(&id);
            }
        }
        self.next += 2 * count;
        self.send_window -= all as u32;
        self.streams.ask_several(first, count, message, content as u32);
        true
    }

    /// Appends content, and keeps what has no room yet.
    #[inline]
    pub(in crate::http2) fn send(
        &mut self,
        id: u32,
        content: &[u8],
        is_end: bool,
        out: &mut Vec<u8>,
    ) {
        // What waits on the same stream goes first. Where another stream's waits although the
        // connection has room, it is for that stream's window.
        let waits = || self.streams.touched.get(id).is_some_and(|stream| stream.is_held);
        let may_go = self.held.queue.is_empty() || !waits();
        let gone = if may_go { self.send_some(id, content, is_end, out) } else { 0 };
        if may_go && gone == content.len() {
            self.note_end(id, is_end, out);
            return;
        }
        let Some(stream) = self.streams.get_mut(id) else { return };
        stream.we_end |= is_end;
        self.used.sends_held += u64::from(!stream.is_held);
        stream.is_held = true;
        let bytes = content[gone..].to_vec();
        let by_stream = stream.send_window <= 0;
        let content = Content { id, bytes, is_end, by_stream, ..Content::default() };
        self.held.queue.push_back(content);
        self.held.is_fresh = true;
    }

    /// Appends a block of fields that ends a stream, behind its content that has no room yet.
    pub(in crate::http2) fn send_trailers(&mut self, id: u32, block: &[u8], out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get_mut(id) else { return };
        if stream.is_held {
            stream.we_end = true;
            let trailers = Some(block.to_vec());
            self.held.queue.push_back(Content { id, trailers, ..Content::default() });
            return;
        }
        frame::write_block(id, frame::END_STREAM, block, self.peer.max_frame as usize, out);
        self.note_end(id, true, out);
    }

    /// Bytes that wait for a window.
    pub(in crate::http2) fn held_bytes(&self) -> usize {
        self.held.queue.iter().map(|content| content.bytes.len() - content.gone).sum()
    }

    /// Appends of what waits as much as there is room for now. False: nothing waited.
    pub(super) fn send_held(&mut self, out: &mut Vec<u8>) -> bool {
        if self.held.queue.is_empty() {
            return false;
        }
        let mut left = VecDeque::new();
        for mut content in std::mem::take(&mut self.held.queue) {
            content.count(self.instants.now, &mut self.used);
            let is_first = left.iter().all(|before: &Content| before.id != content.id);
            if is_first {
                let rest = &content.bytes[content.gone..];
                content.gone += self.send_some(content.id, rest, content.is_end, out);
            }
            let is_over = is_first && content.gone == content.bytes.len();
            if let Some(block) = content.trailers.as_ref().filter(|_| is_over) {
                let most = self.peer.max_frame as usize;
                frame::write_block(content.id, frame::END_STREAM, block, most, out);
            }
            if !is_over {
                let stream = self.streams.touched.get(content.id);
                content.by_stream = stream.is_some_and(|stream| stream.send_window <= 0);
                left.push_back(content);
            }
        }
        self.held.queue = left;
        let mut ended = Vec::new();
        for stream in self.streams.touched.iter_mut().filter(|stream| stream.is_held) {
            let id = stream.id;
            stream.is_held = self.held.queue.iter().any(|content| content.id == id);
            if stream.we_end && !stream.is_held {
                ended.push(id);
            }
        }
        for id in ended {
            self.note_end(id, true, out);
        }
        true
    }

    /// All of ours on a stream has gone. A server that has answered is through with it, but for one on
    /// which another protocol is spoken: there the client has its say, too.
    #[inline]
    pub(in crate::http2) fn note_end(&mut self, id: u32, is_end: bool, out: &mut Vec<u8>) {
        if is_end && self.side == Side::Server {
            let stream = self.streams.get_mut(id).filter(|it| it.is_tunnel && !it.has_ended);
            match stream {
                Some(stream) => stream.we_end = true,
                None => drop(self.finish(id, out)),
            }
        }
    }

    /// The client has ended a stream; is it over in both directions?
    pub(in crate::http2) fn is_over(&self, id: u32) -> bool {
        let stream = self.streams.touched.get(id);
        stream.is_some_and(|it| it.is_tunnel && it.has_ended && it.we_end && !it.is_held)
    }

    /// Appends as much of the content as windows let through, and says how much that was.
    #[inline]
    fn send_some(&mut self, id: u32, content: &[u8], is_end: bool, out: &mut Vec<u8>) -> usize {
        let Some(stream) = self.streams.get_mut(id) else { return content.len() };
        let room = stream.send_window.min(self.send_window.into()).max(0);
        let taken = content.len().min(room as usize);
        stream.send_window -= i64::from(taken as u32);
        self.send_window -= taken as u32;
        let is_end = is_end && taken == content.len();
        let mut rest = &content[..taken];
        loop {
            let (piece, behind) = rest.split_at(rest.len().min(self.peer.max_frame as usize));
            let is_last = is_end && behind.is_empty();
            if piece.is_empty() && !is_last {
                return taken;
            }
            let flags = if is_last { frame::END_STREAM } else { 0 };
            FrameHead { kind: Kind::Data, flags, stream: id, length: piece.len() }.write(out);
            out.extend_from_slice(piece);
            if behind.is_empty() {
                return taken;
            }
            rest = behind;
        }
    }
}
