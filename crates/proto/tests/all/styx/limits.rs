//! Lengths that lie, lists that end too soon, text that is none: errors, each of its class.

use wiretrial_proto::ErrorClass;
use wiretrial_proto::styx::{Encoding, LoadRequest, LoadResponse, MAX_PACKET};

use super::stage::seated;
use crate::common::{Case, Seen, check_client, run_client};

fn refused(encoding: Encoding, name: &str, input: &[u8], class: ErrorClass) {
    let case = Case { name, input, fin: false, expected: vec![Seen::Error(class)], trailing: None };
    check_client(&case, || seated(encoding, false));
}

#[test]
fn binary_packets_that_are_none() {
    use ErrorClass::{Protocol, TooBig, Utf8};
    let rows: [(&str, &[u8], ErrorClass); 20] = [
        ("no length at all", b"\x00\x00\x00\x00", Protocol),
        ("less than a header", b"\x00\x00\x00\x04\x07", Protocol),
        ("below 0", b"\xff\xff\xff\xff", Protocol),
        ("the least below 0", b"\x80\x00\x00\x00", Protocol),
        ("the greatest", b"\x7f\xff\xff\xff", TooBig),
        ("one over the limit", b"\x00\x01\x00\x01", TooBig),
        ("shorter than its fields", b"\x00\x00\x00\x08\x07\x00\x00\x00", Protocol),
        ("longer than its fields", b"\x00\x00\x00\x0a\x07\x00\x00\x00\x01\x00", Protocol),
        ("no fields", b"\x00\x00\x00\x05\x64", Protocol),
        ("a string that is cut", b"\x00\x00\x00\x08\x0a\x00\x02a", Protocol),
        ("a string of the greatest length", b"\x00\x00\x00\x08\x0a\xff\xffa", Protocol),
        ("a string that is not UTF-8", b"\x00\x00\x00\x09\x0a\x00\x02\xc3\x28", Utf8),
        (
            "data that is cut",
            b"\x00\x00\x00\x12\x64\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x02\x01",
            Protocol,
        ),
        (
            "data of the greatest length",
            b"\x00\x00\x00\x11\x64\x00\x00\x00\x01\x00\x00\x00\x07\x7f\xff\xff\xff",
            Protocol,
        ),
        (
            "data of a length below 0",
            b"\x00\x00\x00\x11\x64\x00\x00\x00\x01\x00\x00\x00\x07\xff\xff\xff\xff",
            Protocol,
        ),
        (
            "a list that is cut",
            b"\x00\x00\x00\x19\x64\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00\
            \x00\x00\x00\x02\x00\x00\x00\x00",
            Protocol,
        ),
        (
            "a list of the greatest count",
            b"\x00\x00\x00\x15\x64\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00\x7f\xff\xff\xff",
            Protocol,
        ),
        (
            "a list of the lobby that is cut",
            b"\x00\x00\x00\x19\xc9\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\
            \x00\x00\x00\x01",
            Protocol,
        ),
        (
            "a list of the lobby of the greatest count",
            b"\x00\x00\x00\x15\xc9\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x7f\xff\xff\xff",
            Protocol,
        ),
        (
            "parameters that are cut",
            b"\x00\x00\x00\x11\x1e\x00\x00\x00\x01\xff\x00\x00\x00\x01\x00\x01k",
            Protocol,
        ),
    ];
    for (name, input, class) in rows {
        refused(Encoding::Binary, name, input, class);
    }
}

#[test]
fn json_packets_that_are_none() {
    use ErrorClass::{Protocol, Utf8};
    let rows: [(&str, &[u8], ErrorClass); 15] = [
        ("nothing", b"\n", Protocol),
        ("no object", b"[1]\n", Protocol),
        ("no end", b"{\"classId\":7,\"id\":1\n", Protocol),
        ("two objects", b"{\"classId\":7,\"id\":1}{}\n", Protocol),
        ("no class", b"{\"id\":1}\n", Protocol),
        ("a class that is no byte", b"{\"classId\":256}\n", Protocol),
        ("a class below 0", b"{\"classId\":-1}\n", Protocol),
        ("a field that lacks", b"{\"classId\":7}\n", Protocol),
        ("a field that is another", b"{\"classId\":7,\"id\":\"1\"}\n", Protocol),
        ("a number that is too great", b"{\"classId\":7,\"id\":2147483648}\n", Protocol),
        ("a member twice", b"{\"classId\":7,\"id\":1,\"id\":1}\n", Protocol),
        ("no base64", b"{\"classId\":100,\"tableid\":1,\"pid\":1,\"gamedata\":\"A\"}\n", Protocol),
        (
            "an attribute without a value",
            b"{\"classId\":100,\"tableid\":1,\"pid\":1,\"gamedata\":\"\",\"attributes\":[{\"name\":\"\"}]}\n",
            Protocol,
        ),
        ("text that is not UTF-8", b"{\"classId\":10,\"user\":\"\xff\"}\n", Utf8),
        ("bytes outside strings", b"\xff{}\n", Utf8),
    ];
    for (name, input, class) in rows {
        refused(Encoding::Json, name, input, class);
    }
    let deep = [b"{\"x\":".to_vec(), vec![b'['; 10_000], b"\n".to_vec()].concat();
    let (class, name) = (Protocol, "arrays inside arrays");
    refused(Encoding::Json, name, &deep, class);
}

#[test]
fn a_line_without_an_end_is_not_held_for_ever() {
    let mut line = vec![b' '; MAX_PACKET + 1];
    line[..15].copy_from_slice(b"{\"classId\":143}");
    let too_big = [Seen::Error(ErrorClass::TooBig)];
    for cuts in [vec![], vec![1], vec![MAX_PACKET - 1, MAX_PACKET]] {
        let seen = run_client(&mut seated(Encoding::Json, false), &line, &cuts, false).seen;
        assert_eq!(seen, too_big, "cut at {cuts:?}");
        let mut ended = line.clone();
        ended[MAX_PACKET] = b'\n';
        let seen = run_client(&mut seated(Encoding::Json, false), &ended, &cuts, false).seen;
        assert_eq!(seen, [], "the longest line, cut at {cuts:?}");
    }
}

#[test]
fn packets_of_the_game_that_are_none() {
    let request =
        b"\x00\x00\x00\x16\x01\x00\x00\x03\xe9\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x05";
    let rows: [(&str, Vec<u8>); 6] = [
        ("empty", Vec::new()),
        ("a header alone", request[..5].to_vec()),
        ("cut", request.to_vec()),
        ("longer than it says", [&request[..], b"\x00\x00"].concat()),
        ("a truth value of 2", [&request[..], b"\x02"].concat()),
        ("a delay below 0", {
            let mut bytes = [&request[..], b"\x00"].concat();
            bytes[17] = 0xff;
            bytes
        }),
    ];
    for (name, data) in rows {
        let error = LoadRequest::read(&data).expect_err(name);
        assert_eq!(error.class, ErrorClass::Protocol, "{name}");
    }
    assert!(LoadResponse::read(b"\x00\x00\x00\x05\x02").is_err());
}
