//! Both sides of a conversation, made ready.

use std::sync::Arc;

use wiretrial_proto::socketio::{SocketIoClient, TARGET};
use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig, WebSocketServer};
use wiretrial_proto::{ClientSession, MessageKind, Scratch};

pub(crate) const LIMIT: u64 = 20_000;

fn config() -> Arc<WebSocketConfig> {
    Arc::new(WebSocketConfig {
        host: "localhost".to_owned(),
        target: TARGET.to_owned(),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        kind: MessageKind::Text,
        max_message: LIMIT,
        deflate: None,
        insists_on_deflate: false,
    })
}

/// A client whose upgrade is behind it.
pub(crate) fn upgraded() -> SocketIoClient {
    let mut client = SocketIoClient::new(config(), [1, 2]);
    assert!(
        accept(&mut client).starts_with("GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n")
    );
    client
}

/// A client that may emit.
pub(crate) fn open() -> SocketIoClient {
    entered(upgraded())
}

/// One that reports events, too, and has only those of route 1 acknowledged.
pub(crate) fn told_events() -> SocketIoClient {
    entered(told_events_upgraded())
}

/// The same, upgraded.
pub(crate) fn told_events_upgraded() -> SocketIoClient {
    let mut client = SocketIoClient::telling_events(config(), [1, 2], Arc::from([false, true]));
    accept(&mut client);
    client
}

fn entered(mut client: SocketIoClient) -> SocketIoClient {
    let greeting = messages(&[r#"0{"sid":"x"}"#, r#"40{"sid":"y"}"#]);
    client.receive(&greeting, &mut Scratch::new(), &mut Vec::new()).expect("a greeting");
    assert!(client.is_open());
    client
}

/// A client of bare messages, for the other side.
pub(crate) fn bare() -> WebSocketClient {
    let mut client = WebSocketClient::new(config(), [3, 4]);
    accept(&mut client);
    client
}

/// Answers the upgrade; gives the request.
fn accept(client: &mut impl ClientSession) -> String {
    let mut request = Vec::new();
    client.start(&mut request);
    let request = String::from_utf8(request).expect("a head");
    let (_, behind) = request.split_once("Sec-WebSocket-Key: ").expect("a key");
    let mut answer = Vec::new();
    WebSocketServer::accept(&behind[..24], None, &mut answer);
    client.receive(&answer, &mut Scratch::new(), &mut Vec::new()).expect("upgraded");
    request
}

/// What a server sends that says this, a text frame each.
pub(crate) fn messages(texts: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut server = WebSocketServer::new(LIMIT);
    for text in texts {
        server.message(MessageKind::Text, text.as_bytes(), &mut out);
    }
    out
}

/// The texts of a client's frames: it masks them, and the server's codec takes that off.
pub(crate) fn unmasked(bytes: &[u8]) -> Vec<String> {
    use wiretrial_proto::{ServerCodec as _, ServerEvent};
    let (mut input, mut texts, mut text) = (bytes.to_vec(), Vec::new(), Vec::new());
    let mut server = WebSocketServer::new(LIMIT);
    let (mut scratch, mut at) = (Scratch::new(), 0);
    loop {
        let step = server.receive(&mut input[at..], &mut scratch, &mut Vec::new());
        let step = step.expect("right frames");
        at += step.consumed;
        match step.event {
            None => return texts,
            Some(ServerEvent::Chunk(piece)) => text.extend_from_slice(piece),
            Some(ServerEvent::End) => {
                texts.push(String::from_utf8(std::mem::take(&mut text)).expect("UTF-8"));
            }
            Some(ServerEvent::Close(close)) => texts.push(format!("close {}", close.code)),
            Some(_) => {}
        }
    }
}
