//! The least of HTTP/2: the same request again on the next stream whenever one has ended.
//!
//! Knows where frames end and which of them end a stream. Reads no field, no content and no status, and
//! lets the server send as much as it likes.

use std::io::{self, Read, Write};
use std::net::TcpStream;

const HEAD: usize = 9;
const WIDEST: u32 = (1 << 31) - 1;
/// Content that is taken before the connection's window is opened again, bytes.
const REOPENED: u64 = 1 << 30;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// What is asked: a GET; with content a POST, or a call of gRPC with a message of so many bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Request,
    Call,
}

/// A request as it goes on each stream, but for the number of that.
pub(crate) struct Recorded {
    bytes: Vec<u8>,
    /// Where the stream's number stands.
    places: Vec<usize>,
}

impl Recorded {
    pub(crate) fn new(asked: Asked, address: &str, path: &str, bytes: usize) -> Self {
        let is_post = asked == Asked::Call || bytes > 0;
        // Of the static table: the method, http, and the names :authority and :path.
        let mut block = vec![if is_post { 0x83 } else { 0x82 }, 0x86];
        for (name, value) in [(1, address), (4, path)] {
            block.extend([name, value.len() as u8]);
            block.extend_from_slice(value.as_bytes());
        }
        let length = bytes.to_string();
        match asked {
            Asked::Call => {
                block.extend_from_slice(b"\x0f\x10\x10application/grpc");
                block.extend_from_slice(b"\x00\x02te\x08trailers");
            }
            Asked::Request if is_post => {
                block.extend([0x0f, 0x0d, length.len() as u8]);
                block.extend_from_slice(length.as_bytes());
            }
            Asked::Request => {}
        }
        let mut content: Vec<u8> = Vec::new();
        if asked == Asked::Call {
            content.push(0);
            content.extend_from_slice(&(bytes as u32).to_be_bytes());
        }
        content.extend((0..bytes).map(|at| b'a' + (at % 26) as u8));
        let end = if is_post { 0 } else { END_STREAM };
        let mut recorded = Self { bytes: Vec::new(), places: Vec::new() };
        recorded.add(HEADERS, END_HEADERS | end, &block);
        if is_post {
            recorded.add(DATA, END_STREAM, &content);
        }
        recorded
    }

    fn add(&mut self, kind: u8, flags: u8, payload: &[u8]) {
        write(kind, flags, 0, payload, &mut self.bytes);
        self.places.push(self.bytes.len() - payload.len() - 4);
    }
}

/// One connection: where in the server's frames it is, and what goes out next.
#[derive(Default)]
pub(crate) struct Conversation {
    /// Of a frame's head, what came of it.
    head: [u8; HEAD],
    known: usize,
    /// Of a frame's payload, what is still to come.
    left: usize,
    /// Content since the window was opened last.
    content: u64,
    last_stream: u32,
    /// What goes out now, and what went before, which the kernel may still read.
    out: [Vec<u8>; 2],
}

impl Conversation {
    /// A connection whose settings have been told, both ways.
    pub(crate) fn open(address: &str) -> io::Result<(TcpStream, Self)> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut out = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        let mut settings = vec![0, 2, 0, 0, 0, 0, 0, 4];
        settings.extend_from_slice(&WIDEST.to_be_bytes());
        write(SETTINGS, 0, 0, &settings, &mut out);
        write(WINDOW_UPDATE, 0, 0, &(WIDEST - 65_535).to_be_bytes(), &mut out);
        write(SETTINGS, ACK, 0, &[], &mut out);
        stream.write_all(&out)?;
        let (mut is_settled, mut is_heard) = (false, false);
        while !(is_settled && is_heard) {
            let mut head = [0; HEAD];
            stream.read_exact(&mut head)?;
            let mut payload = vec![0; length(&head)];
            stream.read_exact(&mut payload)?;
            match (head[3], head[4] & ACK != 0) {
                (SETTINGS, false) => is_settled = true,
                (SETTINGS, true) => is_heard = true,
                (GOAWAY, _) => return Err(io::Error::other("the server refuses")),
                _ => {}
            }
        }
        Ok((stream, Self::default()))
    }

    /// Takes in what came; gives the streams that ended with it.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) -> io::Result<usize> {
        let mut ended = 0;
        loop {
            let skipped = self.left.min(bytes.len());
            self.left -= skipped;
            bytes = &bytes[skipped..];
            if bytes.is_empty() {
                return Ok(ended);
            }
            let head = if self.known == 0 && bytes.len() >= HEAD {
                let (head, behind) = bytes.split_at(HEAD);
                bytes = behind;
                head
            } else {
                let (piece, behind) = bytes.split_at((HEAD - self.known).min(bytes.len()));
                self.head[self.known..][..piece.len()].copy_from_slice(piece);
                self.known += piece.len();
                bytes = behind;
                if self.known < HEAD {
                    return Ok(ended);
                }
                self.known = 0;
                &self.head[..]
            };
            self.left = length(head);
            match head[3] {
                DATA | HEADERS => {
                    ended += usize::from(head[4] & END_STREAM != 0);
                    self.content += self.left as u64;
                }
                RESET | GOAWAY => return Err(io::Error::other("the server gives up")),
                _ => {}
            }
        }
    }

    /// So many requests on the next streams; they stay where they are until the next but one are asked for.
    pub(crate) fn requests(&mut self, recorded: &Recorded, count: usize) -> &[u8] {
        self.out.swap(0, 1);
        let out = &mut self.out[0];
        out.clear();
        for _ in 0..count {
            let stream = self.last_stream | 1;
            self.last_stream = stream + 1;
            let begin = out.len();
            out.extend_from_slice(&recorded.bytes);
            for place in &recorded.places {
                out[begin + place..][..4].copy_from_slice(&stream.to_be_bytes());
            }
        }
        if self.content > REOPENED {
            write(WINDOW_UPDATE, 0, 0, &(self.content as u32).to_be_bytes(), out);
            self.content = 0;
        }
        out
    }
}

fn length(head: &[u8]) -> usize {
    u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize
}

fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend([kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}
