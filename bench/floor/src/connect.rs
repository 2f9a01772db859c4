//! Opens connections with the sockets of the standard library, before anything is measured, and
//! learns how long a reply is.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use crate::http2::Asked;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    WebSocket,
    Http,
    /// It has a conversation of its own.
    Http2(Asked),
}

/// What is said on each connection.
pub(crate) struct Conversation<'p> {
    protocol: Protocol,
    address: &'p str,
    path: &'p str,
    bytes: usize,
}

impl<'p> Conversation<'p> {
    pub(crate) fn new(protocol: Protocol, address: &'p str, path: &'p str, bytes: usize) -> Self {
        Self { protocol, address, path, bytes }
    }

    /// A connection on which requests may be sent.
    pub(crate) fn open(&self) -> io::Result<TcpStream> {
        self.greet(TcpStream::connect(self.address)?)
    }

    /// As before, once TCP stands.
    pub(crate) fn greet(&self, mut stream: TcpStream) -> io::Result<TcpStream> {
        stream.set_nodelay(true)?;
        if self.protocol == Protocol::WebSocket {
            // In one write: some servers do not wait for the rest of a first line.
            let upgrade = format!(
                "GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Key: YSBmbG9vciBmb3IgdGhpcw==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                self.path, self.address
            );
            stream.write_all(upgrade.as_bytes())?;
            let head = read_head(&mut stream)?;
            if !head.starts_with("HTTP/1.1 101 ") {
                let line = head.lines().next().unwrap_or_default();
                return Err(io::Error::other(format!("no upgrade, but {line}")));
            }
        }
        Ok(stream)
    }

    /// One request.
    pub(crate) fn request(&self) -> Vec<u8> {
        match self.protocol {
            Protocol::WebSocket => frame(self.bytes),
            Protocol::Http | Protocol::Http2(_) => {
                format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", self.path, self.address).into_bytes()
            }
        }
    }

    /// The length of a reply with everything around it.
    pub(crate) fn reply_bytes(&self) -> io::Result<usize> {
        if self.protocol == Protocol::WebSocket {
            // An echo is the frame without its mask.
            return Ok(frame(self.bytes).len() - 4);
        }
        let mut stream = self.open()?;
        stream.write_all(&self.request())?;
        let head = read_head(&mut stream)?;
        let length = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse::<usize>().ok())
            .ok_or_else(|| io::Error::other("the reply has no Content-Length"))?;
        Ok(head.len() + length)
    }
}

/// A masked binary frame; the mask is zero, as nothing is computed here.
fn frame(bytes: usize) -> Vec<u8> {
    let mut frame = vec![0x82];
    match bytes {
        ..126 => frame.push(0x80 | bytes as u8),
        126..65_536 => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&(bytes as u16).to_be_bytes());
        }
        _ => {
            frame.push(0x80 | 127);
            frame.extend_from_slice(&(bytes as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend((0..bytes).map(|at| b'a' + (at % 26) as u8));
    frame
}

fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut some = [0; 1024];
    loop {
        let count = stream.read(&mut some)?;
        if count == 0 {
            return Err(io::Error::other("the connection ended before its first reply"));
        }
        head.extend_from_slice(&some[..count]);
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            head.truncate(end + 4);
            return String::from_utf8(head).map_err(io::Error::other);
        }
    }
}
