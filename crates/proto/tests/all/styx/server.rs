//! What a server makes of a player's bytes.

use wiretrial_proto::Scratch;
use wiretrial_proto::styx::{Encoding, StyxEvent};
use wiretrial_proto::websocket::{WebSocketClient, WebSocketServer};

use super::stage::{FORMS, config, server};
use super::vectors::vectors;
use crate::common::{pieces, splittings};

/// What the server reported of `input`, cut at these places, and what it said to that.
fn run(
    encoding: Encoding,
    websocket: bool,
    input: &[u8],
    cuts: &[usize],
) -> (Vec<String>, Vec<u8>) {
    let mut codec = server(encoding, websocket);
    let (mut scratch, mut out) = (Scratch::new(), Vec::new());
    let (mut seen, mut held) = (Vec::new(), Vec::new());
    for piece in pieces(input, cuts) {
        held.extend_from_slice(piece);
        loop {
            // It unmasks in place, so what is given again must be what was given.
            let consumed = match codec.receive(&mut held, &mut scratch, &mut out) {
                Ok(step) => {
                    let Some(event) = step.event else {
                        let consumed = step.consumed;
                        held.drain(..consumed);
                        break;
                    };
                    seen.push(match event {
                        StyxEvent::Packet(packet) => format!("{packet:?}"),
                        StyxEvent::Close => "close".to_owned(),
                    });
                    step.consumed
                }
                Err(error) => {
                    codec.refuse(&mut out);
                    seen.push(format!("{:?}", error.class));
                    return (seen, out);
                }
            };
            held.drain(..consumed);
        }
    }
    (seen, out)
}

/// The client's side of a WebSocket whose upgrade is behind it.
fn websocket(encoding: Encoding) -> WebSocketClient {
    use wiretrial_proto::ClientSession as _;
    let upgrade = config(encoding, true).websocket.clone().expect("an upgrade");
    let mut client = WebSocketClient::new(upgrade, [3, 4]);
    let mut request = Vec::new();
    client.start(&mut request);
    let request = String::from_utf8(request).expect("a head");
    let (_, behind) = request.split_once("Sec-WebSocket-Key: ").expect("a key");
    let mut answer = Vec::new();
    WebSocketServer::accept(&behind[..24], None, &mut answer);
    client.receive(&answer, &mut Scratch::new(), &mut Vec::new()).expect("upgraded");
    client
}

fn sent(encoding: Encoding, over: Option<&mut WebSocketClient>, packet: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(client) = over {
        client.message(encoding.kind(), packet, &mut out);
    } else {
        out.extend_from_slice(packet);
        out.extend_from_slice(if encoding == Encoding::Json { b"\n" } else { b"" });
    }
    out
}

#[test]
fn every_packet_is_read_however_it_was_cut() {
    for (encoding, over) in FORMS {
        let mut client = over.then(|| websocket(encoding));
        for vector in vectors() {
            let bytes = match encoding {
                Encoding::Binary => vector.binary,
                Encoding::Json => vector.json.as_bytes(),
            };
            let input = sent(encoding, client.as_mut(), bytes);
            for cuts in splittings(input.len()) {
                let (seen, out) = run(encoding, over, &input, &cuts);
                assert_eq!(seen, [format!("{:?}", vector.packet)], "{encoding:?} cut at {cuts:?}");
                assert!(out.is_empty());
            }
        }
    }
}

#[test]
fn packets_follow_each_other() {
    for (encoding, over) in FORMS {
        let mut client = over.then(|| websocket(encoding));
        let mut input = Vec::new();
        for vector in vectors() {
            let mut bytes = Vec::new();
            encoding.append(&vector.packet, &mut bytes);
            input.extend(sent(encoding, client.as_mut(), &bytes));
        }
        let expected: Vec<_> = vectors().iter().map(|v| format!("{:?}", v.packet)).collect();
        assert_eq!(run(encoding, over, &input, &[]).0, expected);
        let cuts: Vec<_> = (1..input.len()).collect();
        assert_eq!(run(encoding, over, &input, &cuts).0, expected);
    }
}

#[test]
fn who_breaks_the_protocol_is_told() {
    let (seen, out) = run(Encoding::Binary, false, b"\x00\x00\x00\x04", &[]);
    assert_eq!((&seen[..], &out[..]), (&["Protocol".to_owned()][..], &b"\0\0\0\x07\x03\0\0"[..]));
    let (seen, out) = run(Encoding::Json, false, b"nonsense\n", &[]);
    assert_eq!(seen, ["Protocol"]);
    assert_eq!(out, b"{\"classId\":3,\"cmd\":0,\"error\":0}\n");

    let input = sent(Encoding::Binary, Some(&mut websocket(Encoding::Binary)), b"\x00");
    let (seen, out) = run(Encoding::Binary, true, &input, &[]);
    assert_eq!((&seen[..], &out[..]), (&["Protocol".to_owned()][..], &b"\x88\x02\x03\xea"[..]));
    let input = sent(Encoding::Json, Some(&mut websocket(Encoding::Json)), b"{}");
    assert_eq!(run(Encoding::Binary, true, &input, &[]).0, ["Protocol"], "text");
}

#[test]
fn over_websocket_an_empty_message_is_no_packet_and_a_close_is_answered() {
    let mut client = websocket(Encoding::Binary);
    let whole = sent(Encoding::Binary, Some(&mut client), b"\x00\x00\x00\x05\x8f");
    let empty = sent(Encoding::Binary, Some(&mut client), b"");
    let input = [whole, empty].concat();
    assert_eq!(run(Encoding::Binary, true, &input, &[]).0, ["Other(143)", "Protocol"]);

    let mut input = Vec::new();
    wiretrial_proto::ClientSession::close(&mut client, &mut input);
    let (seen, out) = run(Encoding::Binary, true, &input, &[]);
    assert_eq!((&seen[..], out[0]), (&["close".to_owned()][..], 0x88));
}
