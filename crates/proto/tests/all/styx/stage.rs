//! Both sides of a conversation, made ready.

use std::sync::Arc;

use wiretrial_proto::styx::{Encoding, Packet, StyxClient, StyxConfig, StyxServer};
use wiretrial_proto::websocket::{WebSocketConfig, WebSocketServer};
use wiretrial_proto::{ClientSession as _, Scratch};

/// Every combination of encoding and carrier.
pub(crate) const FORMS: [(Encoding, bool); 4] = [
    (Encoding::Binary, false),
    (Encoding::Json, false),
    (Encoding::Binary, true),
    (Encoding::Json, true),
];

pub(crate) fn config(encoding: Encoding, websocket: bool) -> Arc<StyxConfig> {
    configured(encoding, websocket, false)
}

fn configured(encoding: Encoding, websocket: bool, lobby: bool) -> Arc<StyxConfig> {
    let upgrade = WebSocketConfig {
        host: "localhost".to_owned(),
        target: "/socket".to_owned(),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        kind: encoding.kind(),
        max_message: StyxConfig::MAX_MESSAGE,
        deflate: None,
        insists_on_deflate: false,
    };
    Arc::new(StyxConfig {
        encoding,
        websocket: websocket.then(|| Arc::new(upgrade)),
        user: "bot".to_owned(),
        password: "secret".to_owned(),
        delay: 5,
        lobby,
    })
}

/// Player 7 for table 1; over WebSocket the upgrade is behind it. Gives what it said first.
pub(crate) fn started(encoding: Encoding, websocket: bool) -> (StyxClient, Vec<u8>) {
    begun(config(encoding, websocket), websocket)
}

/// The same, and it looks at the lobby.
pub(crate) fn looking(encoding: Encoding, websocket: bool) -> (StyxClient, Vec<u8>) {
    begun(configured(encoding, websocket, true), websocket)
}

fn begun(config: Arc<StyxConfig>, websocket: bool) -> (StyxClient, Vec<u8>) {
    let mut client = StyxClient::new(config, 7, 1, [1, 2]);
    let mut out = Vec::new();
    client.start(&mut out);
    if websocket {
        let request = String::from_utf8(std::mem::take(&mut out)).expect("a head");
        let (_, behind) = request.split_once("Sec-WebSocket-Key: ").expect("a key");
        let mut answer = Vec::new();
        WebSocketServer::accept(&behind[..24], None, &mut answer);
        let mut scratch = Scratch::new();
        let step = client.receive(&answer, &mut scratch, &mut out).expect("upgraded");
        assert_eq!((step.consumed, step.event), (answer.len(), None));
    }
    (client, out)
}

/// The same, seated as player 1001.
pub(crate) fn seated(encoding: Encoding, websocket: bool) -> StyxClient {
    let (mut client, _) = started(encoding, websocket);
    let input = said(encoding, websocket, &[login(0), seat(0)]);
    let mut scratch = Scratch::new();
    client.receive(&input, &mut scratch, &mut Vec::new()).expect("a seat");
    assert!(client.is_open());
    client
}

pub(crate) fn server(encoding: Encoding, websocket: bool) -> StyxServer {
    if websocket { StyxServer::websocket(encoding) } else { StyxServer::stream(encoding) }
}

/// What a server sends that says this.
pub(crate) fn said(encoding: Encoding, websocket: bool, packets: &[Packet<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut server = server(encoding, websocket);
    for packet in packets {
        server.send(packet, &mut out);
    }
    out
}

pub(crate) fn login(status: u8) -> Packet<'static> {
    Packet::LoginResponse {
        name: "bot7".into(),
        player: 1001,
        status,
        code: 0,
        message: "".into(),
        credentials: (&[][..]).into(),
    }
}

pub(crate) fn seat(status: u8) -> Packet<'static> {
    Packet::JoinResponse { table: 1, seat: 0, status, code: 0 }
}
