//! Frames that no right server sends, or not so, and what is made of right ones.
//!
//! Knows the layout of frames (RFC 9113 section 4.1); must not know which reply they are for.

/// Bytes of a frame's head.
const HEAD: usize = 9;
/// The longest payload that nobody refuses.
const MAX_FRAME: usize = 16_384;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const INTERNAL_ERROR: u32 = 2;
pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;

/// Many, and fewer than what ends a connection where nobody has read the answers (10,000).
const FLOOD: usize = 8_000;
/// Frames of a head that has no end.
const CONTINUATIONS: usize = 1_000;
/// `:status: 200`, and a field of 4,000 bytes that goes into the table.
const BOMB: [u8; 7] = [0x88, 0x40, 1, b'a', 0x7f, 0xa1, 0x1e];
const BOMB_FIELD: usize = 4_000;
/// The same field again, a byte each.
const BOMB_AGAIN: [u8; 100] = [0xbe; 100];

/// One frame of some that follow each other.
struct Frame<'a> {
    kind: u8,
    flags: u8,
    payload: &'a [u8],
}

/// Whole frames, which are all that a codec appends.
fn frames(mut bytes: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let (payload, behind) = rest.split_at(length.min(rest.len()));
        bytes = behind;
        Some(Frame { kind: head[3], flags: head[4], payload })
    })
}

fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// The same frames on another stream.
pub(super) fn moved(bytes: &[u8], stream: u32, out: &mut Vec<u8>) {
    frames(bytes).for_each(|it| write(it.kind, it.flags, stream, it.payload, out));
}

/// A reply's head, with its content apart. Nothing ends the stream, and nothing is behind the content.
pub(super) fn taken_apart(bytes: &[u8], stream: u32, out: &mut Vec<u8>) -> Vec<u8> {
    let mut content = Vec::new();
    for it in frames(bytes) {
        match it.kind {
            DATA => content.extend_from_slice(it.payload),
            _ if !content.is_empty() => {}
            _ => write(it.kind, it.flags & !END_STREAM, stream, it.payload, out),
        }
    }
    content
}

/// Content, in frames that everybody takes.
pub(super) fn data(stream: u32, content: &[u8], is_end: bool, out: &mut Vec<u8>) {
    let (mut piece, mut rest) = content.split_at(content.len().min(MAX_FRAME));
    loop {
        let flags = if is_end && rest.is_empty() { END_STREAM } else { 0 };
        write(DATA, flags, stream, piece, out);
        if rest.is_empty() {
            return;
        }
        (piece, rest) = rest.split_at(rest.len().min(MAX_FRAME));
    }
}

/// The end of a stream from the server's side alone.
pub(super) fn reset(stream: u32, out: &mut Vec<u8>) {
    write(RESET, 0, stream, &INTERNAL_ERROR.to_be_bytes(), out);
}

/// The server leaves; what is behind `last` was not looked at.
pub(super) fn goaway(last: u32, out: &mut Vec<u8>) {
    write(GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat(), out);
}

/// One setting.
pub(super) fn setting(id: u16, value: u32, out: &mut Vec<u8>) {
    let entry = [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
    write(SETTINGS, 0, 0, &entry, out);
}

/// More pings than anybody needs.
pub(super) fn pings(out: &mut Vec<u8>) {
    (0..FLOOD).for_each(|_| write(PING, 0, 0, &[0; 8], out));
}

/// More settings, all empty, than anybody needs.
pub(super) fn settings(out: &mut Vec<u8>) {
    (0..FLOOD).for_each(|_| write(SETTINGS, 0, 0, &[], out));
}

/// A head that goes on and on, and says nothing.
pub(super) fn endless_head(stream: u32, out: &mut Vec<u8>) {
    write(HEADERS, 0, stream, &[0x88], out);
    (0..CONTINUATIONS).for_each(|_| write(CONTINUATION, 0, stream, &[], out));
}

/// A head of 4 kB that stands for 400.
pub(super) fn bomb(stream: u32, out: &mut Vec<u8>) {
    let block = [&BOMB[..], &[b'x'; BOMB_FIELD], &BOMB_AGAIN].concat();
    write(HEADERS, END_HEADERS | END_STREAM, stream, &block, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_apart_and_moved() {
        let mut reply = Vec::new();
        write(HEADERS, END_HEADERS, 5, &[0x88], &mut reply);
        data(5, b"ab", false, &mut reply);
        data(5, b"c", true, &mut reply);
        let (mut other, mut wanted) = (Vec::new(), Vec::new());
        moved(&reply, 7, &mut other);
        write(HEADERS, END_HEADERS, 7, &[0x88], &mut wanted);
        data(7, b"ab", false, &mut wanted);
        data(7, b"c", true, &mut wanted);
        assert_eq!(other, wanted);
        let (mut head, mut wanted) = (Vec::new(), Vec::new());
        write(HEADERS, END_HEADERS, 5, &[0x88], &mut wanted);
        assert_eq!(taken_apart(&reply, 5, &mut head), b"abc");
        assert_eq!(head, wanted);
        assert_eq!(head, [0, 0, 1, 1, 4, 0, 0, 0, 5, 0x88]);
    }
}
