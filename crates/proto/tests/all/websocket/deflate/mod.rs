//! permessage-deflate (RFC 7692): what is agreed on, what is read, what is written.

mod negotiation;
mod reading;
mod round_trips;

use std::sync::Arc;

use super::wire::{MAX_MESSAGE, config, key_in};
use wiretrial_proto::http1::Http1Server;
use wiretrial_proto::websocket::{
    DeflateAnswer, DeflateConfig, WebSocketClient, WebSocketConfig, WebSocketServer,
};
use wiretrial_proto::{ClientSession, Event, MessageKind, Scratch, ServerCodec, ServerEvent};

/// The bit that tells that a message is compressed.
const COMPRESSED: u8 = 0x40;

fn asking(kind: MessageKind, offer: DeflateConfig) -> WebSocketConfig {
    WebSocketConfig { deflate: Some(offer), insists_on_deflate: true, ..config(kind) }
}

/// What a server with these wishes makes of an upgrade request with these lines.
fn answer_to(request: &[u8], wishes: DeflateConfig) -> Option<DeflateAnswer> {
    let mut request = request.to_vec();
    let (mut scratch, mut out) = (Scratch::new(), Vec::new());
    let mut http = Http1Server::new();
    let step = http.receive(&mut request, &mut scratch, &mut out).expect("a good request");
    let Some(ServerEvent::Request(request)) = step.event else { panic!("{:?}", step.event) };
    request.websocket_extensions.accept_deflate(&wishes)
}

/// Both sides of a conversation, each with its own wishes, if they agree.
fn agreed(
    kind: MessageKind,
    offer: DeflateConfig,
    wishes: DeflateConfig,
) -> Option<(WebSocketClient, WebSocketServer)> {
    let mut client = WebSocketClient::new(Arc::new(asking(kind, offer)), [5, 6]);
    let (mut request, mut head, mut scratch) = (Vec::new(), Vec::new(), Scratch::new());
    client.start(&mut request);
    let answer = answer_to(&request, wishes)?;
    WebSocketServer::accept_deflate(&key_in(&request), None, &answer, &mut head);
    let step = client.receive(&head, &mut scratch, &mut Vec::new()).expect("a good answer");
    assert_eq!((step.consumed, step.event), (head.len(), Some(Event::Open)));
    let told = client.deflate().expect("agreed");
    assert_eq!(DeflateConfig { level: wishes.level, ..*told }, answer.agreed);
    Some((client, WebSocketServer::with_deflate(MAX_MESSAGE, &answer)))
}

/// As [`agreed`], with nothing but the extension asked for.
fn open_pair(kind: MessageKind) -> (WebSocketClient, WebSocketServer) {
    agreed(kind, DeflateConfig::default(), DeflateConfig::default()).expect("agreed")
}
