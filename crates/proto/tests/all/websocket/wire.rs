//! Frames written and read by hand, apart from the code under test, and codecs to try them on.

use std::sync::Arc;

use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig, WebSocketServer, accept_key};
use wiretrial_proto::{ClientSession, Event, MessageKind, Scratch};

/// The longest message that the codecs here accept.
pub(crate) const MAX_MESSAGE: u64 = 100_000;

/// The first byte of a final frame.
pub(crate) const TEXT: u8 = 0x81;
pub(crate) const BINARY: u8 = 0x82;
pub(crate) const LAST: u8 = 0x80;
pub(crate) const CLOSE: u8 = 0x88;
pub(crate) const PING: u8 = 0x89;
pub(crate) const PONG: u8 = 0x8a;
/// What is taken from it where more frames follow.
pub(crate) const FINAL: u8 = 0x80;

const MASK: [u8; 4] = [0x9d, 0x00, 0xff, 0x42];

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Client,
    Server,
}

/// A frame, maybe a forbidden one.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) first: u8,
    /// The length as it stands in the header, without the mask bit.
    pub(crate) length: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

/// A frame whose length is right.
pub(crate) fn frame(first: u8, payload: impl AsRef<[u8]>) -> Frame {
    let payload = payload.as_ref().to_vec();
    let length = match payload.len() {
        short @ 0..=125 => vec![short as u8],
        middle @ 126..=0xffff => [&[126][..], &(middle as u16).to_be_bytes()].concat(),
        long => [&[127][..], &(long as u64).to_be_bytes()].concat(),
    };
    Frame { first, length, payload }
}

/// A frame that tells this length, with what there is of it.
pub(crate) fn frame_of_length(first: u8, length: &[u8], payload: impl AsRef<[u8]>) -> Frame {
    Frame { first, length: length.to_vec(), payload: payload.as_ref().to_vec() }
}

/// The payload of a close frame.
pub(crate) fn goodbye(code: u16, reason: impl AsRef<[u8]>) -> Vec<u8> {
    [&code.to_be_bytes()[..], reason.as_ref()].concat()
}

/// These frames' bytes; a client's are masked.
pub(crate) fn bytes(frames: &[Frame], from: From) -> Vec<u8> {
    let mut bytes = Vec::new();
    for frame in frames {
        bytes.push(frame.first);
        let start = bytes.len();
        bytes.extend_from_slice(&frame.length);
        if from == From::Server {
            bytes.extend_from_slice(&frame.payload);
            continue;
        }
        bytes[start] |= 0x80;
        bytes.extend_from_slice(&MASK);
        bytes.extend(frame.payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    }
    bytes
}

/// The frames in these bytes, all whole: first byte and payload of each. A client's must be
/// masked, a server's must not.
pub(crate) fn frames_in(mut bytes: &[u8], from: From) -> Vec<(u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let first = take(&mut bytes, 1)[0];
        let second = take(&mut bytes, 1)[0];
        assert_eq!(second & 0x80 != 0, from == From::Client, "the mask bit of {from:?}");
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(array(take(&mut bytes, 2)))),
            127 => u64::from_be_bytes(array(take(&mut bytes, 8))),
            short => short.into(),
        };
        let mask = if from == From::Client { take(&mut bytes, 4) } else { &[0; 4] };
        let payload = take(&mut bytes, length as usize);
        let payload = payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask);
        frames.push((first, payload.collect()));
    }
    frames
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    bytes.split_off(..count).expect("a whole frame")
}

fn array<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    bytes.try_into().expect("as many bytes as the array has")
}

/// What clients here are made with.
pub(crate) fn config(kind: MessageKind) -> WebSocketConfig {
    WebSocketConfig {
        host: "127.0.0.1:9000".to_owned(),
        target: "/echo?x=1".to_owned(),
        headers: vec![("Origin".to_owned(), "http://127.0.0.1".to_owned())],
        subprotocols: Vec::new(),
        kind,
        max_message: MAX_MESSAGE,
        deflate: None,
        insists_on_deflate: false,
    }
}

/// A client whose upgrade request went out, and the accept that it waits for.
pub(crate) fn started_client(config: WebSocketConfig) -> (WebSocketClient, String) {
    let mut client = WebSocketClient::new(Arc::new(config), [1, 2]);
    let mut out = Vec::new();
    client.start(&mut out);
    let accept = accept_key(&key_in(&out));
    (client, String::from_utf8(accept.to_vec()).expect("base64"))
}

/// A client with the upgrade behind it.
pub(crate) fn open_client(kind: MessageKind) -> WebSocketClient {
    open_client_of(config(kind))
}

/// The same, of this configuration.
pub(crate) fn open_client_of(config: WebSocketConfig) -> WebSocketClient {
    let mut scratch = Scratch::new();
    let mut client = WebSocketClient::new(Arc::new(config), [3, 4]);
    let (mut request, mut answer, mut out) = (Vec::new(), Vec::new(), Vec::new());
    client.start(&mut request);
    WebSocketServer::accept(&key_in(&request), None, &mut answer);
    let step = client.receive(&answer, &mut scratch, &mut out).expect("a good answer");
    assert_eq!((step.consumed, step.event), (answer.len(), Some(Event::Open)));
    client
}

/// The server's side of an open conversation.
pub(crate) fn open_server() -> WebSocketServer {
    WebSocketServer::new(MAX_MESSAGE)
}

/// The `Sec-WebSocket-Key` in a request.
pub(crate) fn key_in(request: &[u8]) -> String {
    let request = str::from_utf8(request).expect("a head of text");
    let line = request.lines().find(|line| line.starts_with("Sec-WebSocket-Key: "));
    line.expect("a key")["Sec-WebSocket-Key: ".len()..].to_owned()
}
