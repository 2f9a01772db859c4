use serde_json::{Value as Json, json};
use wiretrial_proto::grpc::framed;

use super::*;
use crate::plan::{ContentRule, Plan};

/// What a plan says of the messages of a reply.
fn messages(replies: &Json, shape: &Json) -> Messages {
    let plan = json!({
        "schema": "wiretrial-plan", "version": 1,
        "load": {"connections": 1}, "stop": {"requests": 1},
        "target": {
            "url": "grpc://h:1/p.S/M",
            "grpc": {"kind": "bidi", "replies": replies},
            "expect": {"content": {"is": "fields", "shape": shape}},
        },
    });
    let plan = Plan::from_json(&plan.to_string()).expect("a plan");
    match plan.target.expect.content {
        ContentRule::Messages(messages) => messages,
        other => panic!("{other:?}"),
    }
}

/// What is said of these messages, however their bytes are cut.
fn told(right: &Messages, sent: &[&[u8]]) -> Result<(), String> {
    let bytes = framed(sent.iter().copied()).expect("short ones");
    let mut all = Vec::new();
    for cut in 1..=bytes.len().max(1) {
        let (mut come, mut begun) = (Come::default(), Vec::new());
        let pieces = bytes.chunks(cut).map(|piece| come.piece(right, piece, &mut begun));
        let looked = pieces.collect::<Result<Vec<()>, String>>();
        let looked = looked.and_then(|_| come.finish(right));
        assert!(looked.is_err() || begun.is_empty(), "nothing is left");
        all.push(looked);
    }
    assert!(all.iter().all(|each| *each == all[0]), "the same however it is cut: {all:?}");
    all.swap_remove(0)
}

#[test]
fn table_of_messages() {
    let shape = json!({"fields": [
        {"number": 1, "wire": "varint", "least": 1, "most": 1, "range": [-1, 300], "signed": "int"},
        {"number": 2, "wire": "len", "most": 2, "utf8": true, "length": [1, 3]},
        {"number": 3, "wire": "len", "message": {"fields": [
            {"number": 1, "wire": "i32", "least": 1, "values": ["AQAAAA==", "AgAAAA=="]},
            {"number": 9, "wire": "varint", "signed": "zigzag", "range": [-2, null]},
        ], "others": true}},
        {"number": 16, "wire": "i64"},
    ]});
    let right = messages(&json!([1, 1]), &shape);
    let minus_one = [8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    let cases: [(&[u8], Result<(), &str>); 24] = [
        (&[8, 5], Ok(())),
        (&[8, 0xac, 2], Ok(())),
        (&minus_one, Ok(())),
        (&[8, 5, 18, 2, b'a', b'b', 18, 1, b'c'], Ok(())),
        (&[18, 1, b'c', 8, 5], Ok(())),
        (&[8, 5, 26, 5, 13, 2, 0, 0, 0], Ok(())),
        (&[8, 5, 26, 9, 13, 2, 0, 0, 0, 80, 1, 72, 3], Ok(())),
        (&[8, 5, 0x81, 1, 1, 2, 3, 4, 5, 6, 7, 8], Ok(())),
        (&[], Err("field 1 is missing")),
        (&[8, 0xad, 2], Err("field 1 had 301, outside of its range")),
        (&[8, 5, 8, 5], Err("field 1 came more than 1 times")),
        (&[10, 0], Err("field 1 had wire type len, not varint")),
        (&[8], Err("field 1 has a value that breaks off")),
        (&[0x80], Err("a tag that breaks off")),
        (&[0, 1], Err("a tag without a field's number")),
        (&[11], Err("field 1 is a group, which nobody writes any more")),
        (&[15], Err("field 1 has a wire type that there is not")),
        (&[8, 5, 32, 1], Err("field 4 is none that the message may have")),
        (&[8, 5, 18, 0], Err("field 2 had 0 bytes, outside of its length")),
        (&[8, 5, 18, 1, 255], Err("field 2 had a text that is no UTF-8")),
        (&[8, 5, 18, 9, 1], Err("field 2 has a value that breaks off")),
        (&[8, 5, 26, 0], Err("field 3.1 is missing")),
        (
            &[8, 5, 26, 5, 13, 3, 0, 0, 0],
            Err("field 3.1 had 0x00000003, not 0x00000001 or 0x00000002"),
        ),
        (&[8, 5, 26, 7, 13, 2, 0, 0, 0, 72, 5], Err("field 3.9 had -3, outside of its range")),
    ];
    for (message, expected) in cases {
        assert_eq!(told(&right, &[message]), expected.map_err(str::to_owned), "{message:?}");
    }
}

#[test]
fn contents_are_compared() {
    let field = json!({"number": 1, "wire": "len", "least": 1, "values": ["YWI=", "YQ=="]});
    let right = messages(&json!([1, 1]), &json!({"fields": [field]}));
    assert_eq!(told(&right, &[&[10, 1, b'a']]), Ok(()));
    let fault = told(&right, &[&[10, 1, b'b']]).expect_err("another");
    assert_eq!(fault, "field 1 had 'b', not 'ab' or one of 1 others");
}

#[test]
fn the_number_of_messages_counts_and_each_is_looked_at() {
    let shape = json!({"fields": [{"number": 1, "wire": "varint"}]});
    let right = messages(&json!([2, 3]), &shape);
    let one: &[u8] = &[8, 1];
    assert_eq!(told(&right, &[one, one]), Ok(()));
    assert_eq!(told(&right, &[one, &[], one]), Ok(()));
    let says = |count, wanted: &str| Err(format!("messages of the reply: {count}, not {wanted}"));
    assert_eq!(told(&right, &[]), says(0, "2 to 3"));
    assert_eq!(told(&right, &[one; 4]), says(4, "2 to 3"));
    assert_eq!(told(&messages(&json!([2, null]), &shape), &[one]), says(1, "2 or more"));
    assert_eq!(told(&messages(&json!([1, 1]), &shape), &[one, one]), says(2, "1"));
    let fault = told(&right, &[one, &[16, 1]]).expect_err("another field");
    assert_eq!(fault, "field 2 is none that the message may have (message 2 of the reply)");
}

#[test]
fn what_is_right_is_looked_at_without_memory_of_its_own() {
    let shape = json!({"fields": [
        {"number": 1, "wire": "len", "message": {"fields": [{"number": 1, "wire": "varint"}]}},
    ]});
    let right = messages(&json!([0, null]), &shape);
    let bytes = framed([&[10, 2, 8, 1][..]; 3]).expect("short ones");
    let (mut come, mut begun) = (Come::default(), Vec::new());
    come.piece(&right, &bytes, &mut begun).expect("right");
    let before = (come.counts.capacity(), begun.capacity());
    for _ in 0..1_000 {
        come.piece(&right, &bytes, &mut begun).expect("right");
    }
    assert_eq!((come.counts.capacity(), begun.capacity()), before);
    assert_eq!(before.1, 0, "whole messages are looked at where they are");
}
