//! Values and shapes: which fit, and what is said of those that do not.

use serde_json::{Value, json};

use super::*;
use crate::plan::Plan;
use crate::plan::traffic::Test;

/// The shape that a plan says so.
fn shape(document: &Value) -> Shape {
    let plan = json!({
        "schema": "wiretrial-plan", "version": 1, "target": {"url": "http://h"},
        "load": {"connections": 1}, "stop": {"sessions": 1},
        "traffic": {
            "routes": [{
                "name": "it", "method": "GET", "target": [{"text": "/"}],
                "expect": {"checks": [{"of": "body", "test": {"is": "shape", "shape": document}}]},
            }],
            "flows": [{"name": "all", "steps": [{"route": 0}]}],
        },
    });
    let plan = Plan::from_json(&plan.to_string()).expect("a plan");
    match &plan.traffic.expect("traffic").routes[0].checks[0].test {
        Test::Shape(shape) => Shape::new(shape),
        other => panic!("{other:?}"),
    }
}

/// What is said of a body.
fn told(shape: &Shape, body: &str) -> Result<(), String> {
    let seen = Seen::Text(body.as_bytes());
    if shape.fits(&seen) {
        assert_eq!(shape.first_fault("$", body.trim()), None, "{body}");
        return Ok(());
    }
    let fault = shape.fault("body", &seen);
    assert!(!fault.contains("is not of the shape"), "{body}: {fault}");
    Err(fault)
}

/// So many of these constants.
fn choice(of: &[u32], least: u32, most: u32) -> Value {
    let of: Vec<_> = of.iter().map(|value| json!({"values": [value]})).collect();
    json!({"of": of, "least": least, "most": most})
}

/// A tagged union: `a` has a text, `b` a list of `a`.
fn either() -> Value {
    let tag = |name: &str| json!({"name": "type", "shape": {"values": [name]}});
    let a = json!({"types": ["object"], "others": false, "members": [
        tag("a"), {"name": "s", "shape": {"types": ["string"]}},
    ]});
    let b = json!({"types": ["object"], "members": [
        tag("b"), {"name": "n", "shape": {"types": ["list"], "items": a}},
    ]});
    json!({"choices": [{"of": [a, b, {"types": ["null"]}], "least": 1, "most": 1}]})
}

#[test]
fn table_of_values_that_fit() {
    let either = either();
    let item = json!({"types": ["object"], "others": false, "members": [
        {"name": "id", "shape": {"types": ["uuid"]}},
        {"name": "price", "shape": {"types": ["number"], "range": [0, 100]}},
        {"name": "note", "shape": {"types": ["string", "null"], "length": [1, 5]}, "required": false},
    ]});
    let items = json!({"types": ["list"], "length": [1, null], "items": item});
    let page = json!({"types": ["object"], "members": [
        {"name": "items", "shape": items},
        {"name": "at", "shape": {"types": ["time"]}},
        {"name": "ok", "shape": {"values": [true]}},
    ]});
    let id = "\"0f8fad5b-d9cb-469f-a165-70867728950e\"";
    let right = format!(
        r#" {{"ok":true,"more":[[{{}}],"\ud83d\ude00"],"items":[{{"id":{id},"price":1.5e1,"note":null}},
        {{"price":0,"\u0069d":{id},"note":"f\u00fc\u00fc"}}],"at":"2024-02-29T12:00:00Z"}}
        "#
    );
    let rows = [
        (json!({}), "[1,{\"a\":null}]"),
        (json!({}), "\"\""),
        (page, right.as_str()),
        (json!({"types": ["integer"]}), "-123456789012345678901234567890"),
        (json!({"types": ["integer"], "range": [0, null]}), "0"),
        (json!({"types": ["integer"], "range": [0, 10]}), "1.0e1"),
        (json!({"types": ["list"], "items": {"types": ["integer"]}}), "[1.0,-2.50e2]"),
        (json!({"types": ["float"]}), "1e3"),
        (json!({"types": ["number"]}), "-0"),
        (json!({"types": ["object", "null"], "members": [{"name": "a"}]}), "null"),
        (json!({"types": ["object", "integer"], "members": [{"name": "a"}]}), "{\"a\":1}"),
        (json!({"range": [null, 9_007_199_254_740_993_u64]}), "9007199254740993"),
        (json!({"range": [1, 2]}), "\"no number\""),
        (json!({"length": [2, 2]}), "\"\\u00fc\u{fc}\""),
        (json!({"length": [2, 2]}), "[1,[]]"),
        (json!({"length": [2, 2]}), "17"),
        (json!({"pattern": "^a+$"}), "\"\\u0061a\""),
        (json!({"pattern": "^a+$"}), "{}"),
        (json!({"values": [1, "1", null]}), "1.0"),
        (json!({"values": [1, "1", null]}), "\"\\u0031\""),
        (json!({"values": [1, "1", null]}), "null"),
        (json!({"values": [[1, {"a": 2.0}]]}), "[1.0,{\"a\":2}]"),
        (json!({"values": [{"a": 1, "b": []}]}), "{\"b\":[],\"a\":1}"),
        (json!({"values": [false, [], {"a": {}}]}), "{\"a\":{}}"),
        (json!({"values": [false, [], {"a": {}}], "types": ["list", "boolean"]}), "[]"),
        (json!({"members": [{"name": "a", "shape": {"types": ["null"]}}]}), r#"{"a":1,"a":null}"#),
        (json!({"members": [{"name": "a"}], "items": {"types": ["null"]}}), "[null,null]"),
        (
            json!({"others": {"types": ["integer"]}, "members": [{"name": "a"}]}),
            r#"{"b":1,"a":"x","\u00fc":2}"#,
        ),
        (json!({"choices": [choice(&[1, 2], 1, 1)]}), "2"),
        (json!({"choices": [choice(&[1, 2], 0, 0)]}), "3"),
        (json!({"choices": [choice(&[1, 1], 2, 2), choice(&[1, 3], 1, 2)]}), "1"),
        (either.clone(), r#"{"type":"b","n":[{"type":"a","s":""}]}"#),
    ];
    for (document, body) in &rows {
        assert_eq!(told(&shape(document), body), Ok(()), "{document} of {body}");
    }
}

#[test]
fn table_of_values_that_do_not_fit() {
    let members = json!({"types": ["object"], "others": false, "members": [
        {"name": "items", "shape": {"types": ["list"], "length": [1, 3], "items": {"members": [
            {"name": "price", "shape": {"types": ["number"]}},
            {"name": "a b", "shape": {"types": ["uuid", "null"]}, "required": false},
        ]}}},
        {"name": "n", "shape": {"types": ["integer"], "range": [1, 5]}, "required": false},
    ]});
    let rows = [
        (
            &members,
            r#"{"items":[{"price":1},{"price":"12"}]}"#,
            r#"$.items[1].price was "12", a text, not a number"#,
        ),
        (&members, r#"{"items":[{}]}"#, "there is no $.items[0].price"),
        (
            &members,
            r#"{"items":[{"price":1,"a b":"x"}]}"#,
            r#"$.items[0]["a b"] was "x", a text, not a UUID or null"#,
        ),
        (&members, r#"{"items":[]}"#, "$.items had 0 elements, not 1 to 3"),
        (&members, r#"{"items":{}}"#, "$.items was {}, an object, not a list"),
        (&members, r#"{"error":"full"}"#, "there is no $.items"),
        (
            &members,
            r#"{"items":[{"price":1}],"m":{"b":1}}"#,
            r#"there is a $.m, {"b":1}, and no such member is expected"#,
        ),
        (&members, r#"{"items":[{"price":1}],"n":1.5}"#, "$.n was 1.5, a fraction, not an integer"),
        (&members, r#"{"items":[{"price":1}],"n":6}"#, "$.n was 6, not 1 to 5"),
        (&members, r#"{"items":[{"price":1}],"n":3,"n":0}"#, "$.n was 0, not 1 to 5"),
        (&members, "[]", "$ was [], a list, not an object"),
        (&members, "null", "$ was null, not an object"),
        (&members, "", "it is no JSON (EOF while parsing a value at line 1 column 0)"),
        (&members, "<html>", "it is no JSON (expected value at line 1 column 1)"),
        (&members, r#"{"items":[{"price":1}]}{"#, "it is no JSON (trailing characters"),
        (&members, r#"{"items":[{"price":1},]}"#, "it is no JSON (trailing comma"),
        (&json!({"length": [5, 5]}), "\"abc\"", "$ was \"abc\", 3 characters, not 5"),
        (&json!({"length": [5, null]}), "[1]", "$ had 1 element, not 5 or more"),
        (&json!({"length": [0, 1]}), "[1,2]", "$ had 2 elements, not 1 or less"),
        (&json!({"range": [null, -1.5]}), "-1", "$ was -1, not -1.5 or less"),
        (
            &json!({"range": [9_007_199_254_740_993_u64, null]}),
            "9007199254740992",
            "$ was 9007199254740992, not 9007199254740993 or more",
        ),
        (&json!({"pattern": "^a"}), "\"ba\"", "$ was \"ba\", which does not match ^a"),
        (&json!({"values": ["a"]}), "\"b\"", "$ was \"b\", not \"a\""),
        (&json!({"values": ["a", 1, []]}), "[[]]", "$ was [[]], none of \"a\", 1, []"),
        (&json!({"values": [[1, {"a": 2}]]}), "[1,{\"a\":3}]", "$[1].a was 3, not 2"),
        (&json!({"values": [[1]]}), "[1,2]", "$ had 2 elements, not 1"),
        (&json!({"values": [{"a": 1}]}), "{\"a\":1,\"b\":2}", "there is a $.b, 2, and no such"),
        (&json!({"types": ["boolean"]}), "0", "$ was 0, a number, not a boolean"),
        (&json!({"types": ["null"]}), "false", "$ was false, a boolean, not null"),
        (&json!({"types": ["integer"]}), "{\"a\":[1]}", "$ was {\"a\":[1]}, an object, not an"),
        (&json!({"types": ["integer"]}), "1.25e1", "$ was 1.25e1, a fraction, not an integer"),
        (&json!({"types": ["float"]}), "1", "$ was 1, an integer, not a fraction"),
        (
            &json!({"types": ["time"]}),
            "\"2024-02-29T12:00:00\"",
            "$ was \"2024-02-29T12:00:00\", a text, not an RFC 3339 time",
        ),
    ];
    let either = either();
    let both =
        json!({"choices": [{"of": [{"types": ["integer"]}, {"range": [1, 5]}], "least": 2}]});
    let rows_of_choices = [
        (
            &either,
            r#"{"type":"b","n":[{"type":"a","s":1}]}"#,
            "$.n[0].s was 1, a number, not a text",
        ),
        (&either, r#"{"type":"c"}"#, r#"$ was {"type":"c"}, which has none of 3 shapes"#),
        (&either, "5", "$ was 5, which has none of 3 shapes"),
        (&both, "6", "$ was 6, not 1 to 5"),
        (&both, "1.5", "$ was 1.5, a fraction, not an integer"),
        (
            &json!({"choices": [choice(&[1, 1], 1, 1)]}),
            "1",
            "$ was 1, which has 2 of 2 shapes, not 1",
        ),
        (
            &json!({"choices": [choice(&[1], 0, 0)]}),
            "1",
            "$ was 1, which has a shape that is wrong",
        ),
        (
            &json!({"others": {"types": ["null"]}}),
            r#"{"a":1,"a":null}"#,
            "$.a was 1, a number, not",
        ),
    ];
    for (document, body, says) in rows.into_iter().chain(rows_of_choices) {
        let fault = told(&shape(document), body).expect_err(body);
        assert!(fault.starts_with(says) && !fault.contains('\n'), "{fault}");
    }
    let seen = Seen::Text(b"{\"a\":\"\xff\"}");
    assert!(!shape(&json!({})).fits(&seen));
    assert!(shape(&json!({})).fault("body", &seen).starts_with("it is no JSON (invalid utf-8"));
}

#[test]
fn places_of_a_reply_have_shapes_too() {
    let numbers =
        shape(&json!({"types": ["list"], "length": [2, 3], "items": {"types": ["number"]}}));
    let constant = shape(&json!({"values": [[1, "b"]]}));
    let one = |places| Seen::List { body: b"[1,\"b\",2]", places };
    let right = [1..2, 7..8];
    let wrong = [1..2, 3..6];
    assert!(numbers.fits(&one(&right)) && constant.fits(&one(&wrong)));
    assert!(!numbers.fits(&one(&wrong)) && !constant.fits(&one(&right)));
    assert!(!numbers.fits(&one(&right[..1])) && !numbers.fits(&Seen::Nothing));
    let fault = numbers.fault("$[*]", &one(&wrong));
    assert_eq!(fault, "$[*][1] was \"b\", a text, not a number");
    let fault = numbers.fault("$.a", &Seen::Json("{}"));
    assert_eq!(fault, "$.a was {}, an object, not a list");
}

#[test]
fn an_object_may_have_as_many_members_as_are_noted() {
    let name = |n: usize| format!("m{n}");
    let all: Vec<_> = (0..MOST_MEMBERS)
        .map(|n| json!({"name": name(n), "shape": {"types": ["integer"]}, "required": n % 2 == 0}))
        .collect();
    let shape = shape(&json!({"members": all}));
    let of = |numbers: &mut dyn Iterator<Item = usize>| {
        let members: Vec<_> = numbers.map(|n| format!("\"{}\":{n}", name(n))).collect();
        format!("{{{}}}", members.join(","))
    };
    assert_eq!(told(&shape, &of(&mut (0..MOST_MEMBERS))), Ok(()));
    assert_eq!(told(&shape, &of(&mut (0..MOST_MEMBERS).rev().filter(|n| n % 2 == 0))), Ok(()));
    let fault = told(&shape, &of(&mut (0..MOST_MEMBERS - 2))).expect_err("one is missing");
    assert_eq!(fault, "there is no $.m1022");
    let wrong = of(&mut (0..MOST_MEMBERS)).replace(":1023", ":true");
    assert_eq!(told(&shape, &wrong), Err("$.m1023 was true, a boolean, not an integer".into()));
}

#[test]
fn what_is_nested_deeply_ends_in_an_error() {
    let deep = "[".repeat(1_000_000);
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let mut document = json!({"types": ["list"], "length": [0, 1]});
    for _ in 0..20 {
        document = json!({"types": ["list"], "items": document});
    }
    let list = shape(&document);
    for shape in [&shape(&json!({})), &shape(&json!({"types": ["integer"]})), &list] {
        assert!(!shape.fits(&Seen::Text(deep.as_bytes())));
        assert!(shape.fault("body", &Seen::Text(deep.as_bytes())).starts_with("it is no JSON ("));
    }
    assert_eq!(told(&list, &nested(100)), Ok(()));
    let fault = told(&list, &nested(200)).expect_err("deep");
    assert!(fault.starts_with("it is no JSON (recursion limit exceeded"), "{fault}");
}

/// A value that a seed draws.
fn drawn(draw: &mut fastrand::Rng, depth: usize) -> Value {
    match draw.u32(0..if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => json!(draw.bool()),
        2 => json!(draw.i64(-5..5)),
        3 => json!(draw.f64() + 0.5),
        4 => json!(["", "a", "\u{fc}\"\\", "line\n"][draw.usize(0..4)]),
        5 => json!(draw.u64(..)),
        6 | 7 => {
            let name = |n: usize| ["a", "b c", "\u{fc}", "d\"", "e\\"][n];
            (0..draw.usize(0..5)).map(|n| (name(n), drawn(draw, depth - 1))).collect()
        }
        _ => (0..draw.usize(0..4)).map(|_| drawn(draw, depth - 1)).collect(),
    }
}

/// A shape that a value is of: as much as the seed says of it is said.
fn said_of(draw: &mut fastrand::Rng, value: &Value) -> Value {
    if draw.u32(0..6) == 0 {
        return json!({"values": [drawn(draw, 1), value]});
    }
    match value {
        Value::Null => json!({"types": ["boolean", "null"]}),
        Value::Bool(_) => json!({"types": ["boolean"]}),
        Value::Number(number) if number.is_f64() => {
            json!({"types": ["float"], "range": [0.5, 1.5]})
        }
        Value::Number(number) => json!({"types": ["integer"], "range": [number, number]}),
        Value::String(text) => {
            let length = text.chars().count();
            json!({"types": ["string"], "length": [length, length]})
        }
        Value::Array(elements) if elements.iter().all(Value::is_number) => {
            json!({"types": ["list"], "length": [elements.len(), null], "items": {"types": ["number"]}})
        }
        Value::Array(elements) => json!({"types": ["list"], "length": [0, elements.len()]}),
        Value::Object(members) if draw.u32(0..4) == 0 => {
            let of = members.values().map(|value| said_of(draw, value)).collect::<Vec<_>>();
            let other = json!({"choices": [{"of": of, "least": 1}]});
            json!({"types": ["object"], "others": if of.is_empty() { json!(false) } else { other }})
        }
        Value::Object(members) => {
            let others = draw.bool();
            let mut said = Vec::new();
            for (name, value) in members {
                if !others || draw.bool() {
                    said.push(json!({"name": name, "shape": said_of(draw, value)}));
                }
            }
            json!({"types": ["object"], "others": others, "members": said})
        }
    }
}

#[test]
fn what_is_said_of_a_value_holds_of_it_and_not_of_others() {
    let mut draw = fastrand::Rng::with_seed(7);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..4000 {
        let value = drawn(&mut draw, 3);
        let said = shape(&said_of(&mut draw, &value));
        let body = value.to_string();
        let pretty = serde_json::to_string_pretty(&value).expect("JSON");
        assert_eq!(told(&said, &body), Ok(()), "{body}");
        assert_eq!(told(&said, &pretty), Ok(()), "{body}");
        // `told` asserts that the pass and the search for the fault agree, whichever it is.
        let other = drawn(&mut draw, 3);
        match told(&said, &other.to_string()) {
            Ok(()) => right += 1,
            Err(_) => wrong += 1,
        }
        let exact = Shape::only(&value);
        assert_eq!(told(&exact, &body), Ok(()));
        let is_same =
            Seen::Json(&other.to_string()).compared(&value).is_some_and(std::cmp::Ordering::is_eq);
        assert_eq!(told(&exact, &other.to_string()).is_ok(), is_same, "{other} and {value}");
    }
    assert!(right > 20 && wrong > 2000, "{right} of {wrong}");
}
