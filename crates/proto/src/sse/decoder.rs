//! From bytes to events, wherever the bytes were cut.
//!
//! Knows the fields of an event and what ends a line; must not know what an event should say. Text
//! stays bytes: who looks at it says what is to become of bytes that are not UTF-8.

use crate::{ErrorClass, ProtocolError, Step};

/// A stream may begin with it; it says nothing.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
/// Room beyond this is given back when an event is over: most streams of many wait.
const KEPT: usize = 4096;

/// How much of a stream is held at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventLimits {
    /// Longest line, bytes, without its end.
    pub line: usize,
    /// Most data of an event, bytes.
    pub event: usize,
}

impl Default for EventLimits {
    fn default() -> Self {
        Self { line: 16 << 20, event: 16 << 20 }
    }
}

/// Reads one stream after the other, of which each goes on where the last one ended.
#[derive(Debug, Clone, Default)]
pub struct EventDecoder {
    limits: EventLimits,
    /// Bytes of the byte order mark that have come; all: it came, or will not.
    mark: u8,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_return: bool,
    /// An event was reported, and its parts are still there.
    reported: bool,
    /// What came of a line whose end has not come.
    line: Vec<u8>,
    data: Vec<u8>,
    kind: Vec<u8>,
    /// What the next event's end makes the last id; none: it stays what it is.
    next_id: Option<Vec<u8>>,
    last_id: Vec<u8>,
    retry_ms: Option<u64>,
}

/// An event that came whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerSent<'a> {
    /// Its type; empty: `message`.
    pub kind: &'a [u8],
    /// Lines of data, with LF between them.
    pub data: &'a [u8],
    /// The last id that the stream has told, with this event or before it; empty: none.
    pub id: &'a [u8],
}

impl EventDecoder {
    /// For a first stream.
    pub fn new(limits: EventLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Another stream begins. An event that did not come to its end is forgotten, the last id is kept.
    pub fn begin_again(&mut self) {
        let last_id = std::mem::take(&mut self.last_id);
        *self = Self { last_id, retry_ms: self.retry_ms, ..Self::new(self.limits) };
    }

    /// What a client tells when it asks for the stream again (`Last-Event-ID`); empty: nothing.
    pub fn last_id(&self) -> &[u8] {
        &self.last_id
    }

    /// After how many milliseconds a client asks again, where the server has told.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Takes bytes from the front of `input` up to the end of the next event; without one it takes
    /// all of them.
    ///
    /// # Errors
    /// A line or an event is longer than it may be; the stream must be given up.
    pub fn receive(&mut self, input: &[u8]) -> Result<Step<ServerSent<'_>>, ProtocolError> {
        self.forget_reported();
        let mut offset = self.pass_over_mark(input);
        while let Some(&first) = input.get(offset) {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                offset += 1;
                continue;
            }
            let rest = &input[offset..];
            let Some(length) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
                self.keep(rest)?;
                offset = input.len();
                break;
            };
            self.after_return = rest[length] == b'\r';
            offset += length + 1;
            if self.end_line(&rest[..length])? {
                self.reported = true;
                let Self { kind, data, last_id: id, .. } = self;
                return Ok(Step { consumed: offset, event: Some(ServerSent { kind, data, id }) });
            }
        }
        Ok(Step { consumed: offset, event: None })
    }

    fn forget_reported(&mut self) {
        if std::mem::take(&mut self.reported) {
            self.kind.clear();
            empty(&mut self.data);
        }
    }

    /// How many bytes at the front belong to the mark at the stream's begin.
    fn pass_over_mark(&mut self, input: &[u8]) -> usize {
        let mut passed = 0;
        while let Some(&expected) = BYTE_ORDER_MARK.get(usize::from(self.mark)) {
            let Some(&byte) = input.get(passed) else { break };
            if byte != expected {
                // What looked like one is the begin of the first line.
                self.line.extend_from_slice(&BYTE_ORDER_MARK[..usize::from(self.mark)]);
                self.mark = BYTE_ORDER_MARK.len() as u8;
                break;
            }
            self.mark += 1;
            passed += 1;
        }
        passed
    }

    fn keep(&mut self, piece: &[u8]) -> Result<(), ProtocolError> {
        if self.line.len() + piece.len() > self.limits.line {
            return Err(too_big("a line of a stream of events is over the limit"));
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    /// A line has ended, of which this is the last part. True: an event has, too.
    fn end_line(&mut self, part: &[u8]) -> Result<bool, ProtocolError> {
        if self.line.is_empty() && part.len() <= self.limits.line {
            return self.take_line(part);
        }
        self.keep(part)?;
        let mut line = std::mem::take(&mut self.line);
        let ended = self.take_line(&line);
        empty(&mut line);
        self.line = line;
        ended
    }

    fn take_line(&mut self, line: &[u8]) -> Result<bool, ProtocolError> {
        if line.is_empty() {
            return Ok(self.end_event());
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            // A comment.
            Some(0) => return Ok(false),
            Some(place) => (&line[..place], &line[place + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => self.add_data(value)?,
            b"event" => {
                self.kind.clear();
                self.kind.extend_from_slice(value);
            }
            b"id" if !value.contains(&0) => self.next_id = Some(value.to_vec()),
            b"retry" => self.retry_ms = milliseconds(value).or(self.retry_ms),
            _ => {}
        }
        Ok(false)
    }

    fn add_data(&mut self, value: &[u8]) -> Result<(), ProtocolError> {
        if self.data.len() + value.len() > self.limits.event {
            return Err(too_big("an event's data is over the limit"));
        }
        self.data.extend_from_slice(value);
        self.data.push(b'\n');
        Ok(())
    }

    /// A blank line: the event is over. One without data is none, but its id counts.
    fn end_event(&mut self) -> bool {
        if let Some(id) = self.next_id.take() {
            self.last_id = id;
        }
        let has_data = self.data.pop().is_some();
        if !has_data {
            self.kind.clear();
        }
        has_data
    }
}

fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT {
        *buffer = Vec::new();
    }
}

/// Digits alone, and a number that can be told.
fn milliseconds(value: &[u8]) -> Option<u64> {
    let digits = value.iter().all(u8::is_ascii_digit).then_some(value)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cold]
const fn too_big(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::TooBig, detail)
}
