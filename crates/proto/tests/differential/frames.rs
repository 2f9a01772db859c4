//! WebSocket frames against `tungstenite`: messages, the peer's close, and what is refused.
#![allow(dead_code, reason = "each fuzz target uses its own part of this")]

use std::io::{self, Cursor, Read, Write};

use tungstenite::protocol::{Role, WebSocketConfig as TheirConfig};
use tungstenite::{Error, Message, WebSocket};
use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig, WebSocketServer};
use wiretrial_proto::{ClientSession, ErrorClass, MessageKind};

use super::common::{Seen, Transcript, run_client, run_server};
use super::known;

const MAX_MESSAGE: usize = 1500;

/// What happened on one connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    Message(MessageKind, Vec<u8>),
    Close(u16),
    Utf8,
    TooBig,
    Protocol,
}

/// Panics where the client's codec and tungstenite's differ without a known reason.
pub(crate) fn compare_client(input: &[u8]) {
    explain(input, &ours_of_client(input), &theirs(input, Role::Client));
}

/// As [`compare_client`], for the server's codec.
pub(crate) fn compare_server(input: &[u8]) {
    explain(input, &ours_of_server(input), &theirs(input, Role::Server));
}

pub(crate) fn client_differs(input: &[u8]) -> bool {
    !agree(&ours_of_client(input), &theirs(input, Role::Client))
}

fn explain(input: &[u8], ours: &[Happened], theirs: &[Happened]) {
    if agree(ours, theirs) || known::IN_FRAMES.iter().any(|row| (row.applies)(input)) {
        return;
    }
    panic!("{}\n  ours: {ours:?}\ntheirs: {theirs:?}", input.escape_ascii());
}

/// The same messages, and the same end. Where several things are wrong, which is told is free,
/// and so is when: ours judges each byte as it comes, tungstenite whole frames. A close code
/// that must not be sent is an error to ours and a close with 1002 to tungstenite.
fn agree(ours: &[Happened], theirs: &[Happened]) -> bool {
    let is_message = |it: &&Happened| matches!(it, Happened::Message(..));
    let count = ours.iter().take_while(is_message).count();
    if count != theirs.iter().take_while(is_message).count() || ours[..count] != theirs[..count] {
        return false;
    }
    match (ours.get(count), theirs.get(count)) {
        (Some(Happened::Close(ours)), Some(Happened::Close(theirs))) => ours == theirs,
        (Some(Happened::Close(_)), _) => false,
        (Some(_), None | Some(Happened::Close(1002))) => true,
        (_, Some(Happened::Close(_))) => false,
        (ours, theirs) => ours.is_some() == theirs.is_some(),
    }
}

fn ours_of_client(input: &[u8]) -> Vec<Happened> {
    let config = WebSocketConfig {
        host: "h".to_owned(),
        target: "/".to_owned(),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        kind: MessageKind::Binary,
        max_message: MAX_MESSAGE as u64,
        deflate: None,
        insists_on_deflate: false,
    };
    let mut codec = WebSocketClient::new(config.into(), [1, 2]);
    let mut request = Vec::new();
    codec.start(&mut request);
    let request = String::from_utf8(request).expect("a head of text");
    let (_, behind) = request.split_once("Sec-WebSocket-Key: ").expect("a key");
    let mut answer = Vec::new();
    WebSocketServer::accept(&behind[..24], None, &mut answer);
    run_client(&mut codec, &answer, &[], false);
    happened(run_client(&mut codec, input, &[], false))
}

fn ours_of_server(input: &[u8]) -> Vec<Happened> {
    happened(run_server(&mut WebSocketServer::new(MAX_MESSAGE as u64), input, &[]))
}

fn happened(transcript: Transcript) -> Vec<Happened> {
    let mut kind = MessageKind::Binary;
    let mut happened = Vec::new();
    for seen in transcript.seen {
        happened.push(match seen {
            Seen::Reply { kind, payload, .. } => Happened::Message(kind, payload),
            Seen::Message(begun) => {
                kind = begun;
                continue;
            }
            Seen::End(payload) => Happened::Message(kind, payload),
            Seen::Close(code) => Happened::Close(code),
            Seen::Error(ErrorClass::Utf8) => Happened::Utf8,
            Seen::Error(ErrorClass::TooBig) => Happened::TooBig,
            Seen::Error(_) => Happened::Protocol,
            _ => continue,
        });
    }
    happened
}

fn theirs(input: &[u8], role: Role) -> Vec<Happened> {
    let config = TheirConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let wire = Wire::new(input);
    let mut socket = WebSocket::from_raw_socket(wire, role, Some(config));
    let mut happened = Vec::new();
    loop {
        happened.push(match socket.read() {
            Ok(Message::Text(text)) => {
                Happened::Message(MessageKind::Text, text.as_bytes().to_vec())
            }
            Ok(Message::Binary(bytes)) => Happened::Message(MessageKind::Binary, bytes.to_vec()),
            Ok(Message::Close(frame)) => {
                happened.push(Happened::Close(frame.map_or(1005, |frame| frame.code.into())));
                return happened;
            }
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
            // There is no more input, or the conversation is over.
            Err(Error::Io(_) | Error::ConnectionClosed | Error::AlreadyClosed) => return happened,
            Err(Error::Utf8(_)) => Happened::Utf8,
            Err(Error::Capacity(_)) => Happened::TooBig,
            Err(_) => Happened::Protocol,
        });
        if !matches!(happened.last(), Some(Happened::Message(..))) {
            return happened;
        }
    }
}

/// Input that ends without an end of the stream, and room for all output.
pub(crate) struct Wire(Cursor<Vec<u8>>);

impl Wire {
    pub(crate) fn new(input: &[u8]) -> Self {
        Self(Cursor::new(input.to_vec()))
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
