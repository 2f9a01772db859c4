//! Each packet in both encodings, byte by byte as written down by hand.

use std::borrow::Cow;

use wiretrial_proto::styx::{
    Attribute, Encoding, Listed, LoadRequest, LoadResponse, Lobby, OK, Packet,
};

/// A packet, its bytes, its JSON.
pub(crate) struct Vector {
    pub(crate) packet: Packet<'static>,
    pub(crate) binary: &'static [u8],
    pub(crate) json: &'static str,
}

const REQUEST: &[u8] =
    b"\x00\x00\x00\x16\x01\x00\x00\x03\xe9\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x05\x00";
const RESPONSE: &[u8] = b"\x00\x00\x00\x12\x02\x00\x00\x03\xe9\x00\x00\x00\x01\x00\x00\x00\x02\x01";

pub(crate) fn vectors() -> Vec<Vector> {
    let text = |text: &'static str| Cow::Borrowed(text);
    let bytes = |bytes: &'static [u8]| Cow::Borrowed(bytes);
    vec![
        Vector {
            packet: Packet::Bad { class: 100, error: 1 },
            binary: b"\x00\x00\x00\x07\x03\x64\x01",
            json: r#"{"classId":3,"cmd":100,"error":1}"#,
        },
        Vector {
            packet: Packet::Ping { id: -2 },
            binary: b"\x00\x00\x00\x09\x07\xff\xff\xff\xfe",
            json: r#"{"classId":7,"id":-2}"#,
        },
        Vector {
            packet: Packet::LoginRequest {
                user: text("bot7"),
                password: text("é\"\\"),
                operator: 3,
                credentials: bytes(b"\xff\x00"),
            },
            binary: b"\x00\x00\x00\x1b\x0a\x00\x04bot7\x00\x04\xc3\xa9\"\\\x00\x00\x00\x03\
                \x00\x00\x00\x02\xff\x00",
            json: r#"{"classId":10,"user":"bot7","password":"é\"\\","operatorid":3,"credentials":"/wA="}"#,
        },
        Vector {
            packet: Packet::LoginResponse {
                name: text("Bot"),
                player: 1001,
                status: OK,
                code: 0,
                message: text(""),
                credentials: bytes(b""),
            },
            binary: b"\x00\x00\x00\x19\x0b\x00\x03Bot\x00\x00\x03\xe9\x00\x00\x00\x00\x00\
                \x00\x00\x00\x00\x00\x00",
            json: r#"{"classId":11,"screenname":"Bot","pid":1001,"status":0,"code":0,"message":"","credentials":""}"#,
        },
        Vector {
            packet: Packet::JoinRequest { table: 1, seat: -1 },
            binary: b"\x00\x00\x00\x0e\x1e\x00\x00\x00\x01\xff\x00\x00\x00\x00",
            json: r#"{"classId":30,"tableid":1,"seat":-1,"params":[]}"#,
        },
        Vector {
            packet: Packet::JoinResponse { table: 1, seat: 2, status: 1, code: 9 },
            binary: b"\x00\x00\x00\x0f\x1f\x00\x00\x00\x01\x02\x01\x00\x00\x00\x09",
            json: r#"{"classId":31,"tableid":1,"seat":2,"status":1,"code":9}"#,
        },
        Vector {
            packet: Packet::LeaveRequest { table: 1 },
            binary: b"\x00\x00\x00\x09\x24\x00\x00\x00\x01",
            json: r#"{"classId":36,"tableid":1}"#,
        },
        Vector {
            packet: Packet::LeaveResponse { table: 1, status: OK, code: 0 },
            binary: b"\x00\x00\x00\x0e\x25\x00\x00\x00\x01\x00\x00\x00\x00\x00",
            json: r#"{"classId":37,"tableid":1,"status":0,"code":0}"#,
        },
        Vector {
            packet: Packet::Game { table: 1, player: 1001, data: RESPONSE, attributes: Vec::new() },
            binary: b"\x00\x00\x00\x27\x64\x00\x00\x00\x01\x00\x00\x03\xe9\x00\x00\x00\x12\
                \x00\x00\x00\x12\x02\x00\x00\x03\xe9\x00\x00\x00\x01\x00\x00\x00\x02\x01\
                \x00\x00\x00\x00",
            json: r#"{"classId":100,"tableid":1,"pid":1001,"gamedata":"AAAAEgIAAAPpAAAAAQAAAAIB","attributes":[]}"#,
        },
        Vector {
            packet: Packet::Game {
                table: 1,
                player: 7,
                data: b"",
                attributes: vec![
                    Attribute { name: text("a"), value: text("") },
                    Attribute { name: text(""), value: text("b") },
                ],
            },
            binary: b"\x00\x00\x00\x1f\x64\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00\
                \x00\x00\x00\x02\x00\x01a\x00\x00\x00\x00\x00\x01b",
            json: r#"{"classId":100,"tableid":1,"pid":7,"gamedata":"","attributes":[{"name":"a","value":""},{"name":"","value":"b"}]}"#,
        },
        Vector {
            packet: Packet::LobbySubscribe,
            binary: b"\x00\x00\x00\x05\xc8",
            json: r#"{"classId":200}"#,
        },
        Vector {
            packet: Packet::LobbySnapshot(Lobby {
                seq: 0xffff_fffe,
                tables: 2,
                players: 3,
                listed: vec![Listed { table: -1, seated: 2 }, Listed { table: 7, seated: 1 }],
            }),
            binary: b"\x00\x00\x00\x25\xc9\xff\xff\xff\xfe\x00\x00\x00\x02\x00\x00\x00\x03\
                \x00\x00\x00\x02\xff\xff\xff\xff\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\x01",
            json: r#"{"classId":201,"seq":4294967294,"tables":2,"players":3,"list":[{"tableid":-1,"seated":2},{"tableid":7,"seated":1}]}"#,
        },
        Vector {
            packet: Packet::Other(143),
            binary: b"\x00\x00\x00\x05\x8f",
            json: r#"{"classId":143}"#,
        },
    ]
}

#[test]
fn packets_are_written_as_they_stand_in_the_table() {
    for Vector { packet, binary, json } in vectors() {
        let mut out = b"before".to_vec();
        Encoding::Binary.append(&packet, &mut out);
        assert_eq!(out, [b"before", binary].concat(), "{packet:?}");
        out.clear();
        Encoding::Json.append(&packet, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), json, "{packet:?}");
    }
}

#[test]
fn packets_are_read_as_they_stand_in_the_table() {
    for Vector { packet, binary, json } in vectors() {
        assert_eq!(Encoding::Binary.read(binary, &mut Vec::new()).as_ref(), Ok(&packet));
        assert_eq!(Encoding::Json.read(json.as_bytes(), &mut Vec::new()).as_ref(), Ok(&packet));
    }
}

/// The packets that the contract `table` writes down for everybody who serves tables.
#[test]
fn the_contract_s_vectors_are_these() {
    let text = include_str!("../../../../../subjects/_contract/table-vectors.json");
    let told: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let packets = told["packets"].as_array().expect("packets");
    let ours = vectors();
    assert_eq!(packets.len(), ours.len());
    for (told, ours) in packets.iter().zip(ours) {
        assert_eq!(told["binary"], hex(ours.binary), "{:?}", ours.packet);
        let json: serde_json::Value = serde_json::from_str(ours.json).expect("JSON");
        assert_eq!(told["json"], json, "{:?}", ours.packet);
    }
    let game: Vec<_> = told["game"].as_array().expect("packets of the game").iter().collect();
    assert_eq!(game.len(), 2);
    assert_eq!(game[0]["binary"], hex(REQUEST));
    assert_eq!(game[1]["binary"], hex(RESPONSE));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[test]
fn packets_of_the_game_are_read_and_written() {
    let request = LoadRequest { player: 1001, table: 1, seq: 2, delay: 5, resend: false };
    let response = LoadResponse { player: 1001, table: 1, seq: 2, resend: true };
    let mut out = Vec::new();
    request.append(&mut out);
    assert_eq!(out, REQUEST);
    out.clear();
    response.append(&mut out);
    assert_eq!(out, RESPONSE);
    assert_eq!(LoadRequest::read(REQUEST), Ok(Some(request)));
    assert_eq!(LoadResponse::read(RESPONSE), Ok(Some(response)));
    assert_eq!((LoadRequest::read(RESPONSE), LoadResponse::read(REQUEST)), (Ok(None), Ok(None)));
    let last = LoadResponse { seq: u32::MAX, ..response };
    out.clear();
    last.append(&mut out);
    assert_eq!(LoadResponse::read(&out), Ok(Some(last)));
}

#[test]
fn json_is_read_in_any_order_with_members_of_others_and_statuses_by_name() {
    let rows = [
        (r#" {"seat":2, "code":9,"status":"FAILED","tableid":1,"classId":31,"x":{"y":[1]}} "#, 5),
        (r#"{"tableid":1,"classId":30,"seat":-1}"#, 4),
        (r#"{"pid":1001,"screenname":"B\u006ft","status":"OK","classId":11}"#, 3),
        (r#"{"classId":3,"cmd":100,"error":1,"status":null}"#, 0),
        (r#"{"gamedata":"AAAAEgIAAAPpAAAAAQAAAAIB","pid":1001,"tableid":1,"classId":100}"#, 8),
    ];
    for (text, row) in rows {
        let packet = &vectors()[row].packet;
        assert_eq!(Encoding::Json.read(text.as_bytes(), &mut Vec::new()).as_ref(), Ok(packet));
    }
}
