//! What a player makes of a server's bytes.

use wiretrial_proto::styx::{Encoding, Listed, LoadResponse, Lobby, Packet};
use wiretrial_proto::{Bulletin, ClientSession as _, Delivery, ErrorClass, Message, Scratch};

use super::stage::{FORMS, config, login, looking, said, seat, seated, started};
use crate::common::{Case, Seen, check_client, run_client};

fn copy(player: i32, table: i32, seq: u32, resend: bool) -> Vec<u8> {
    let mut data = Vec::new();
    LoadResponse { player, table, seq, resend }.append(&mut data);
    data
}

fn game(table: i32, data: &[u8]) -> Packet<'_> {
    Packet::Game { table, player: 1001, data, attributes: Vec::new() }
}

fn delivery(origin: i32, seq: u32, intact: bool) -> Seen {
    let (number, own) = (seq.into(), origin == 1001);
    Seen::Delivery(Delivery { origin, number, own, intact, payload: None })
}

#[test]
fn a_player_logs_in_and_sits_down() {
    for (encoding, websocket) in FORMS {
        let input = said(encoding, websocket, &[login(0), Packet::Other(60), seat(0)]);
        let data = copy(1001, 1, 0, false);
        let trailing = said(encoding, websocket, &[game(1, &data)]);
        let case = Case {
            name: &format!("{encoding:?}, WebSocket {websocket}"),
            input: &input,
            fin: false,
            expected: vec![Seen::Open],
            trailing: Some((&trailing, vec![delivery(1001, 0, true)])),
        };
        check_client(&case, || started(encoding, websocket).0);
    }
}

#[test]
fn what_a_player_says_is_what_it_must() {
    let (mut client, hello) = started(Encoding::Binary, false);
    assert_eq!(
        hello,
        b"\x00\x00\x00\x1b\x0a\x00\x04bot7\x00\x06secret\x00\x00\x00\x00\x00\x00\x00\x00"
    );
    let run = run_client(
        &mut client,
        &said(Encoding::Binary, false, &[login(0), seat(0), Packet::Ping { id: 5 }]),
        &[],
        false,
    );
    let mut out = run.out;
    assert_eq!(client.member(), Some(1001));
    client.encode(&Message::new(2, b""), &mut out);
    client.close(&mut out);
    let join = b"\x00\x00\x00\x0e\x1e\x00\x00\x00\x01\xff\x00\x00\x00\x00";
    let pong = b"\x00\x00\x00\x09\x07\x00\x00\x00\x05";
    let action = b"\x00\x00\x00\x2b\x64\x00\x00\x00\x01\x00\x00\x03\xe9\x00\x00\x00\x16\
        \x00\x00\x00\x16\x01\x00\x00\x03\xe9\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x05\x00\
        \x00\x00\x00\x00";
    let leave = b"\x00\x00\x00\x09\x24\x00\x00\x00\x01";
    assert_eq!(out, [&join[..], pong, action, leave].concat());

    let (_, hello) = started(Encoding::Json, false);
    let expected =
        r#"{"classId":10,"user":"bot7","password":"secret","operatorid":0,"credentials":""}"#;
    assert_eq!(String::from_utf8_lossy(&hello), format!("{expected}\n"));
}

#[test]
fn each_copy_is_reported_as_it_is() {
    let rows: [(&str, i32, Vec<u8>, Option<Seen>); 6] = [
        ("its own", 1, copy(1001, 1, 3, false), Some(delivery(1001, 3, true))),
        ("another player's", 1, copy(1002, 1, 9, false), Some(delivery(1002, 9, true))),
        ("inside, another table", 1, copy(1002, 2, 9, false), Some(delivery(1002, 9, false))),
        ("outside, another table", 2, copy(1002, 1, 9, false), Some(delivery(1002, 9, false))),
        ("sent again", 1, copy(1001, 1, 3, true), Some(delivery(1001, 3, false))),
        ("another packet of the game", 1, b"\x00\x00\x00\x06\x63!".to_vec(), None),
    ];
    for (encoding, websocket) in FORMS {
        for (name, table, data, expected) in &rows {
            let input = said(encoding, websocket, &[game(*table, data)]);
            let next = copy(1001, 1, 4, false);
            let trailing = said(encoding, websocket, &[game(1, &next)]);
            let case = Case {
                name,
                input: &input,
                fin: false,
                expected: expected.iter().cloned().collect(),
                trailing: Some((&trailing, vec![delivery(1001, 4, true)])),
            };
            check_client(&case, || seated(encoding, websocket));
        }
    }
}

#[test]
fn refusals_and_what_comes_at_the_wrong_time_are_errors() {
    let refused = Seen::Error(ErrorClass::Upgrade);
    let wrong = Seen::Error(ErrorClass::Protocol);
    let elsewhere = Packet::JoinResponse { table: 2, seat: 0, status: 0, code: 0 };
    let rows = [
        ("no login", vec![login(1)], vec![refused.clone()]),
        ("no seat", vec![login(0), seat(1)], vec![refused]),
        ("a seat at another table", vec![login(0), elsewhere], vec![wrong.clone()]),
        ("a seat without a login", vec![seat(0)], vec![wrong.clone()]),
        ("two logins", vec![login(0), login(0)], vec![wrong.clone()]),
        ("two seats", vec![login(0), seat(0), seat(0)], vec![Seen::Open, wrong.clone()]),
        ("a bad packet", vec![Packet::Bad { class: 10, error: 1 }], vec![wrong]),
    ];
    for (encoding, websocket) in FORMS {
        for (name, packets, expected) in &rows {
            let input = said(encoding, websocket, packets);
            let case = Case {
                name,
                input: &input,
                fin: false,
                expected: expected.clone(),
                trailing: None,
            };
            check_client(&case, || started(encoding, websocket).0);
        }
    }
}

#[test]
fn an_end_truncates_what_was_begun() {
    let whole = said(Encoding::Binary, false, &[login(0), seat(0)]);
    let truncated = Seen::Error(ErrorClass::Truncated);
    let rows = [
        (0, vec![truncated.clone()]),
        (10, vec![truncated.clone()]),
        (whole.len() - 1, vec![truncated]),
        (whole.len(), vec![Seen::Open]),
    ];
    for (length, expected) in rows {
        let name = format!("{length} bytes");
        let case =
            Case { name: &name, input: &whole[..length], fin: true, expected, trailing: None };
        check_client(&case, || started(Encoding::Binary, false).0);
    }
}

#[test]
fn over_websocket_messages_have_the_kind_of_their_encoding() {
    for encoding in [Encoding::Binary, Encoding::Json] {
        let other = if encoding == Encoding::Json { Encoding::Binary } else { Encoding::Json };
        let input = said(other, true, &[login(0)]);
        let (mut client, _) = started(encoding, true);
        let seen = run_client(&mut client, &input, &[], false).seen;
        assert_eq!(seen, [Seen::Error(ErrorClass::Protocol)], "{encoding:?}");
        assert!(!client.is_open());
    }
}

#[test]
fn over_websocket_a_close_is_reported_and_a_goodbye_is_said() {
    let mut client = seated(Encoding::Binary, true);
    let seen = run_client(&mut client, b"\x88\x02\x03\xe9", &[], true).seen;
    assert_eq!(seen, [Seen::Close(1001)]);

    let mut client = seated(Encoding::Binary, true);
    let mut out = Vec::new();
    client.close(&mut out);
    // A masked frame of nine bytes, then the close frame.
    assert_eq!((out[0], out[1], out[15] & 0x0f), (0x82, 0x89, 0x8));
    assert!(!client.is_open());
}

#[test]
fn a_player_to_whom_nothing_came_reports_nothing() {
    let mut client = seated(Encoding::Binary, false);
    assert_eq!(config(Encoding::Binary, false).delay, 5);
    let mut scratch = Scratch::new();
    let step = client.receive(b"", &mut scratch, &mut Vec::new()).expect("nothing came");
    assert_eq!((step.consumed, step.event), (0, None));
}

fn snapshot(seq: u32, players: u32) -> Packet<'static> {
    let listed = vec![Listed { table: 1, seated: 2 }];
    Packet::LobbySnapshot(Lobby { seq, tables: 1, players, listed })
}

#[test]
fn who_looks_at_the_lobby_says_so_behind_its_login_and_counts_what_it_is_told() {
    let told = |missed, late, intact| Seen::Bulletin(Bulletin { missed, late, intact });
    let right = told(0, false, true);
    for (encoding, websocket) in FORMS {
        let packets = [
            login(0),
            snapshot(u32::MAX - 1, 2),
            seat(0),
            snapshot(u32::MAX, 2),
            snapshot(0, 3),
            snapshot(3, 2),
            snapshot(2, 2),
            snapshot(3, 2),
            snapshot(4, 2),
        ];
        let input = said(encoding, websocket, &packets);
        let case = Case {
            name: &format!("{encoding:?}, WebSocket {websocket}"),
            input: &input,
            fin: false,
            expected: vec![
                right.clone(),
                Seen::Open,
                right.clone(),
                told(0, false, false),
                told(2, false, true),
                told(0, true, true),
                told(0, true, true),
                right.clone(),
            ],
            trailing: None,
        };
        check_client(&case, || looking(encoding, websocket).0);
    }
    let (mut client, _) = looking(Encoding::Binary, false);
    let run = run_client(&mut client, &said(Encoding::Binary, false, &[login(0)]), &[], false);
    let asked = b"\x00\x00\x00\x05\xc8\x00\x00\x00\x0e\x1e\x00\x00\x00\x01\xff\x00\x00\x00\x00";
    assert_eq!(run.out, asked);
}

#[test]
fn a_snapshot_that_nobody_asked_for_is_an_error() {
    for (encoding, websocket) in FORMS {
        let input = said(encoding, websocket, &[snapshot(0, 2)]);
        let seen = run_client(&mut seated(encoding, websocket), &input, &[], false).seen;
        assert_eq!(seen, [Seen::Error(ErrorClass::Protocol)]);
    }
}
