//! The WebSocket echo with compression, over real sockets. One test reads the memory of the
//! process, so they run one after the other.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;

use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use common::{Client, End, SWITCHED, UPGRADE, masked, plan, unmasked};
use wiretrial_net::machine::peak_rss_bytes;
use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig};
use wiretrial_proto::{ClientSession as _, Event, MessageKind, Scratch};
use wiretrial_respond::{DeflateConfig, RespondError, Script, Server, ServerPlan, start};

const MIB: usize = 1024 * 1024;
/// Messages whose echo is much longer than they were.
const MESSAGES: u32 = 3;
/// A final text frame that is compressed.
const TEXT: u8 = 0xc1;
/// "Hello", as section 7.2.3.1 of RFC 7692 compresses it.
const HELLO: [u8; 7] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn server(deflate: Option<DeflateConfig>) -> Server {
    start(ServerPlan { deflate, max_message: 3 * MIB as u64, ..plan(Script::default()) }).unwrap()
}

fn offering(extension: &str) -> String {
    UPGRADE.replace("\r\n\r\n", &format!("\r\nSec-WebSocket-Extensions: {extension}\r\n\r\n"))
}

fn switched(extension: &str) -> String {
    SWITCHED.replace("\r\n\r\n", &format!("\r\nSec-WebSocket-Extensions: {extension}\r\n\r\n"))
}

#[test]
fn nobody_gets_it_unasked() {
    let _alone = alone();
    let without = server(None);
    let mut client = Client::http(&without);
    client.send(offering("permessage-deflate"));
    client.expect(SWITCHED);
    client.send(masked(TEXT, &HELLO));
    client.expect(unmasked(0x88, &1002_u16.to_be_bytes()));

    let with = server(Some(DeflateConfig::default()));
    let mut client = Client::websocket(&with);
    client.send(masked(0x81, b"plain"));
    client.expect(unmasked(0x81, b"plain"));
}

#[test]
fn what_is_agreed_on_is_said() {
    let _alone = alone();
    let wishes = DeflateConfig { server_max_window_bits: 10, ..DeflateConfig::default() };
    let server = server(Some(wishes));
    let mut client = Client::http(&server);
    client.send(offering("permessage-deflate; server_no_context_takeover; client_max_window_bits"));
    client.expect(switched(
        "permessage-deflate; server_no_context_takeover; server_max_window_bits=10",
    ));
}

#[test]
fn messages_come_back_compressed() {
    let _alone = alone();
    let server = server(Some(DeflateConfig::default()));
    let (mut client, mut codec) = open(&server);
    // However the client sent it: compressed, plain, in pieces.
    client.send(masked(TEXT, &HELLO));
    client.expect(unmasked(TEXT, &HELLO));
    codec.receive(&unmasked(TEXT, &HELLO), &mut Scratch::new(), &mut Vec::new()).unwrap();
    let pieces = [masked(0x41, &HELLO[..3]), masked(0x80, &HELLO[3..])].concat();
    for sent in [masked(0x81, b"Hello"), pieces] {
        client.send(sent);
        let [first, length] = client.take(2)[..] else { panic!() };
        assert_eq!(first, TEXT);
        assert!(length < HELLO.len() as u8, "it refers to what came before");
        let frame = [vec![first, length], client.take(length.into())].concat();
        let mut scratch = Scratch::new();
        let step = codec.receive(&frame, &mut scratch, &mut Vec::new()).unwrap();
        let Some(Event::Reply(reply)) = step.event else { panic!("{:?}", step.event) };
        assert_eq!(reply.payload, b"Hello");
    }
    client.send(masked(TEXT, &[0]));
    client.expect(unmasked(TEXT, &[0]));
    assert_eq!(server.stats().requests, 4);
    client.send(masked(TEXT, &[0x06]));
    client.expect(unmasked(0x88, &1002_u16.to_be_bytes()));
    client.expect_end(End::Fin);
}

#[test]
fn a_plan_out_of_range_is_refused() {
    let deflate = Some(DeflateConfig { level: 0, ..DeflateConfig::default() });
    let refused = start(ServerPlan { deflate, ..plan(Script::default()) });
    let Err(error @ RespondError::Deflate(_)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.to_string(), "deflate: level=0 is not 1 (fast) to 9 (small)");
}

/// A client's side of a connection, compressed.
fn open(server: &Server) -> (Client, WebSocketClient) {
    let config = WebSocketConfig {
        host: "a".to_owned(),
        target: "/".to_owned(),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        kind: MessageKind::Binary,
        max_message: u64::MAX,
        deflate: Some(DeflateConfig::default()),
        insists_on_deflate: true,
    };
    let mut codec = WebSocketClient::new(Arc::new(config), [1, 2]);
    let mut request = Vec::new();
    codec.start(&mut request);
    let mut client = Client::http(server);
    client.send(&request);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.extend(client.take(1));
    }
    codec.receive(&head, &mut Scratch::new(), &mut Vec::new()).unwrap();
    (client, codec)
}

/// What is a thousand times as long as it came is neither held by the server nor, where it
/// cannot be compressed so well again, by what waits to go out.
#[test]
fn memory_is_bounded() {
    let _alone = alone();
    // Windows that are too small to see what repeats.
    let wishes = DeflateConfig { server_max_window_bits: 8, ..DeflateConfig::default() };
    let server = server(Some(wishes));
    let (client, mut codec) = open(&server);
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let unit: Vec<u8> = (0..4000).map(|_| noise()).collect();
    let payload = unit.repeat(3 * MIB / unit.len());
    let (mut sent, mut bomb) = (Vec::new(), Vec::new());
    for _ in 0..MESSAGES {
        codec.message(MessageKind::Binary, &payload, &mut sent);
    }
    assert!(sent.len() < MIB, "{} bytes", sent.len());
    let (bomber, mut bombs) = open(&server);
    bombs.message(MessageKind::Binary, &vec![0; 4 * MIB], &mut bomb);

    let before = peak_rss_bytes();
    refused_at_the_limit(bomber, &bomb);
    echoed_to_who_reads_late(client, &mut codec, &sent, &payload);
    let grown = peak_rss_bytes() - before;
    assert!(grown < 4 * MIB as u64, "{grown} bytes");
}

fn refused_at_the_limit(mut client: Client, bomb: &[u8]) {
    client.send(bomb);
    let (got, end) = client.rest();
    assert!(got.ends_with(&unmasked(0x88, &1009_u16.to_be_bytes())));
    assert_eq!(end, End::Fin);
}

fn echoed_to_who_reads_late(
    mut client: Client,
    codec: &mut WebSocketClient,
    sent: &[u8],
    payload: &[u8],
) {
    let mut writer = client.0.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            std::io::Write::write_all(&mut writer, sent).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        // The server has far more to say than fits before the first byte is taken.
        thread::park_timeout(std::time::Duration::from_millis(300));
        let (mut scratch, mut out, mut held) = (Scratch::new(), Vec::new(), Vec::new());
        let (mut at, mut replies) = (0, 0);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = std::io::Read::read(&mut client.0, &mut buffer).unwrap();
            if count == 0 {
                break;
            }
            held.extend_from_slice(&buffer[..count]);
            let mut taken = 0;
            loop {
                let step = codec.receive(&held[taken..], &mut scratch, &mut out).unwrap();
                taken += step.consumed;
                let (piece, ends) = match step.event {
                    None => break,
                    Some(Event::Chunk { piece, .. }) => (piece, false),
                    Some(Event::Reply(reply)) => (reply.payload, true),
                    other => panic!("{other:?}"),
                };
                assert!(piece == &payload[at..at + piece.len()], "differs after {at}");
                at += piece.len();
                if ends {
                    assert_eq!(at, payload.len());
                    (at, replies) = (0, replies + 1);
                }
            }
            held.drain(..taken);
        }
        assert_eq!((at, replies), (0, MESSAGES));
    });
}
