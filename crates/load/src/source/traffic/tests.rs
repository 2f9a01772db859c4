//! Routes as a plan says them: what is sent, and what is said of replies, however they are split.

use serde_json::{Value, json};

use super::{Coming, Fault, Jar, Known, Making, Room, Routes, Values};
use crate::plan::Plan;

/// The routes of a plan with this one.
fn routes(route: &Value) -> (Plan, Routes) {
    let mut route = route.clone();
    route["name"] = json!("it");
    let login = json!({
        "name": "login", "method": "GET", "target": [{"text": "/"}],
        "captures": [{"name": "token", "of": "body"}],
    });
    let plan = json!({
        "schema": "wiretrial-plan", "version": 1,
        "target": {"url": "http://127.0.0.1:9"},
        "load": {"connections": 1}, "stop": {"sessions": 1},
        "traffic": {
            "routes": [login, route],
            "feeds": [{"name": "f", "columns": ["user", "id"], "rows": [["ann", "7"]]}],
            "flows": [{"name": "all", "feed": "f", "steps": [{"route": 0}, {"route": 1}]}],
        },
    });
    let plan = Plan::from_json(&plan.to_string()).expect("a plan");
    let routes = Routes::new(plan.traffic.as_ref().expect("traffic"), &plan);
    (plan, routes)
}

/// What the session knows.
fn values(plan: &Plan) -> Values {
    let mut values = Values::default();
    let names = &plan.traffic.as_ref().expect("traffic").values;
    for (name, value) in [("user", "ann"), ("id", "7"), ("token", "t/1")] {
        values.set(names.iter().position(|known| known == name).expect(name), value.as_bytes());
    }
    values
}

type Head<'a> = &'a [(&'a str, &'a str)];

/// What is said of a reply whose body comes in these pieces, and what was captured as `next`.
fn told(
    routes: &(Plan, Routes),
    (status, head, pieces): (u16, Head<'_>, &[&[u8]]),
    coming: &mut Coming,
) -> (Result<(), Fault>, String) {
    let (plan, routes) = routes;
    let replies = &routes.get(1).replies;
    let mut values = values(plan);
    let fields = head.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    replies.begin(coming, status, 100, fields);
    let (last, before) = pieces.split_last().expect("a piece");
    before.iter().filter(|piece| !piece.is_empty()).for_each(|piece| replies.piece(coming, piece));
    let making = Making { seq: 4, ..Making::default() };
    let told = replies.finish(coming, last, (&mut values, making), &mut replies.scratch());
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    assert_eq!(coming.bytes(), 100 + length as u64);
    let names = &plan.traffic.as_ref().expect("traffic").values;
    let next = names.iter().position(|known| known == "next");
    (told, next.map_or(String::new(), |at| String::from_utf8_lossy(values.get(at)).into_owned()))
}

/// The same, and at every split in two, and byte by byte.
fn verdict(route: &Value, status: u16, head: Head<'_>, body: &str) -> (Result<(), Fault>, String) {
    let routes = routes(route);
    let mut coming = Coming::default();
    let body = body.as_bytes();
    let whole = told(&routes, (status, head, &[body]), &mut coming);
    for split in 0..=body.len() {
        let (one, two) = body.split_at(split);
        assert_eq!(told(&routes, (status, head, &[one, two]), &mut coming), whole, "at {split}");
    }
    let mut bytes: Vec<&[u8]> = body.chunks(1).collect();
    bytes.push(b"");
    assert_eq!(told(&routes, (status, head, &bytes), &mut coming), whole, "byte by byte");
    whole
}

fn get(expect: &Value) -> Value {
    json!({"method": "GET", "target": [{"text": "/"}], "expect": expect})
}

#[test]
fn a_request_is_laid_out_of_what_the_session_knows() {
    let route = json!({
        "method": "POST",
        "target": [{"text": "/u/"}, {"value": "user"}, {"text": "?t="}, {"url": "token"}],
        "headers": [["Authorization", [{"text": "Bearer "}, {"value": "token"}]], ["A", [{"text": "b"}]]],
        "body": [{"text": "{\"id\":"}, {"value": "id"}, {"text": ",\"n\":"}, {"make": "seq"}, {"text": "}"}],
    });
    let (plan, routes) = routes(&route);
    let (values, mut jar, mut room) = (values(&plan), Jar::default(), Room::default());
    jar.set(b"sid=1; path=/u", b"/");
    jar.set(b"other=1; path=/other", b"/");
    let known = Known { values: &values, making: Making { seq: 4, ..Making::default() } };
    let requests = &routes.get(1).requests;
    let request = requests.lay(known, Some(&jar), &mut room);
    assert_eq!((request.values, request.ends), (&b"annt%2F1t/1"[..], &[3, 8, 11][..]));
    assert_eq!((request.cookies, request.body), (&b"sid=1"[..], &br#"{"id":7,"n":5}"#[..]));
    assert_eq!(requests.lay(known, None, &mut room).cookies, b"");
    assert_eq!((requests.body_length(), routes.get(0).requests.body_length()), (None, Some(0)));
}

#[test]
fn the_status_is_the_first_that_must_be_right() {
    let body = r#"{"error":"full"}"#;
    assert_eq!(verdict(&get(&json!({})), 204, &[], "").0, Ok(()));
    let fault = verdict(&get(&json!({})), 503, &[], "").0;
    assert_eq!(fault, Err(Fault::Status("status 503, not 2xx".to_owned())));
    assert_eq!(verdict(&get(&json!({"status": "any"})), 503, &[], body).0, Ok(()));
    let of = |status, body| {
        let route = get(&json!({"status": {"in": [200, 404]}, "body": [{"text": body}]}));
        verdict(&route, status, &[], "x").0
    };
    assert_eq!(of(404, "x"), Ok(()));
    assert_eq!(
        of(302, "y"),
        Err(Fault::Status(
            "status 302, a redirect, which is not followed, not 200, 404: 'x'".into()
        ))
    );
}

#[test]
fn an_exact_body_has_holes() {
    let exact = get(&json!({"body": [
        {"text": "{\"user\":\""}, {"value": "user"}, {"text": "\",\"n\":"}, {"make": "seq"}, {"text": "}"},
    ]}));
    assert_eq!(verdict(&exact, 200, &[], r#"{"user":"ann","n":5}"#).0, Ok(()));
    for wrong in
        [r#"{"user":"bob","n":5}"#, r#"{"user":"ann","n":5} "#, r#"{"user":"ann","n":"#, ""]
    {
        let Err(Fault::Mismatch(fault)) = verdict(&exact, 200, &[], wrong).0 else {
            panic!("{wrong}")
        };
        assert!(fault.starts_with("from byte "), "{fault}");
    }
}

#[test]
fn all_checks_must_hold() {
    let check = |of: Value, test: Value| json!({"of": of, "test": test});
    let compared = |with: Value| json!({"is": "compared", "how": "==", "with": with});
    let count =
        json!({"of": {"json": "$.items[*]"}, "count": true, "test": compared(json!({"json": 2}))});
    let route = get(&json!({"checks": [
        count,
        check(json!({"json": "$.items[*].id"}), json!({"is": "contains", "with": {"text": [{"value": "id"}]}})),
        check(json!({"json": "$.user"}), compared(json!({"text": [{"value": "user"}]}))),
        check(json!({"json": "$.at"}), json!({"is": "type", "name": "time"})),
        check(json!({"header": "content-type"}), json!({"is": "contains", "with": {"json": "json"}})),
        check(json!({"cookie": "sid"}), json!({"is": "starts", "with": [{"text": "s"}]})),
        {"of": {"header": "X-No"}, "not": true, "test": {"is": "exists"}},
        check(json!("bytes"), json!({"is": "compared", "how": ">", "with": {"json": 20}})),
        check(json!("status"), json!({"is": "compared", "how": "<", "with": {"json": 300}})),
        check(json!({"regex": "\"id\":(\\d+)\\}"}), compared(json!({"text": [{"value": "id"}]}))),
        check(json!("body"), json!({"is": "matches", "pattern": "^\\{"})),
    ]}));
    let head = [
        ("Content-Type", "application/json"),
        ("Set-Cookie", "a=b"),
        ("set-cookie", "sid=s1; Path=/"),
    ];
    let body = r#"{"items":[{"id":7},{"id":8}],"user":"ann","at":"2024-02-29T12:00:00Z"}"#;
    assert_eq!(verdict(&route, 200, &head, body).0, Ok(()));
    let rows = [
        (body.replace("{\"id\":8}", ""), "it is no JSON (trailing comma"),
        (body.replace(",{\"id\":8}", ""), "$.items[*] count was 1, and is wanted 2: '{"),
        (
            body.replace("\"id\":7", "\"id\":9"),
            "$.items[*].id was [9,8], and is wanted with '7' in it",
        ),
        (body.replace("ann", "bob"), "$.user was \"bob\", and is wanted 'ann'"),
        (
            body.replace("12:00", "12-00"),
            "$.at was \"2024-02-29T12-00:00Z\", and is wanted of type time",
        ),
        (body.replace("\"at\"", "\"on\""), "there is no $.at: '"),
        (body.replace("[{\"id\":7},", "[{\"id\":7 },"), "match of \"id\":(\\d+)\\} was '8', and"),
    ];
    for (body, says) in rows {
        let Err(Fault::Mismatch(fault)) = verdict(&route, 200, &head, &body).0 else {
            panic!("{body}")
        };
        assert!(fault.contains(says), "{fault}");
    }
    for (head, says) in [
        (&head[1..], "there is no header content-type"),
        (&head[..2], "there is no cookie sid"),
        (&[head[0], head[2], ("x-no", "1")][..], "there is a header X-No, '1'"),
    ] {
        let Err(Fault::Mismatch(fault)) = verdict(&route, 200, head, body).0 else {
            panic!("{says}")
        };
        assert!(fault.contains(says), "{fault}");
    }
}

#[test]
fn bodies_and_places_in_them_have_shapes() {
    let shape =
        |of: Value, shape: Value| json!({"of": of, "test": {"is": "shape", "shape": shape}});
    let mut none = shape(json!({"json": "$.next"}), json!({"types": ["null"]}));
    none["not"] = json!(true);
    let item = json!({"others": false, "members": [
        {"name": "id", "shape": {"types": ["integer"]}},
        {"name": "n\u{e4}me", "shape": {"types": ["string"], "length": [2, 2]}},
    ]});
    let route = get(&json!({"checks": [
        shape(json!("body"), json!({"types": ["object"], "members": [
            {"name": "items", "shape": {"types": ["list"], "items": item}},
        ]})),
        shape(json!({"json": "$.items[*].id"}), json!({"length": [2, 3], "items": {"range": [7, 9]}})),
        none,
    ]}));
    let body = r#" {"items":[{"id":7,"n\u00e4me":"\u00fcx"},{"näme":"üx","id":9}],"next":false} "#;
    assert_eq!(verdict(&route, 200, &[], body).0, Ok(()));
    let rows = [
        (body.replace(":9", ":9.5"), "$.items[1].id was 9.5, a fraction, not an integer: ' {"),
        (body.replace("üx", "x"), "$.items[1].n\u{e4}me was \"x\", 1 character, not 2: ' {"),
        (body.replace(":9", ":10"), "$.items[*].id[1] was 10, not 7 to 9: ' {"),
        (body.replace("false", "null"), "$.next was null, and is wanted to be not of the shape"),
        (body.replace("} ", "}} "), "it is no JSON (trailing characters at line 1"),
        (body.replace("\\u00fc", "\\u00f"), "it is no JSON (invalid escape at line 1"),
        (body.replace("false", "[[{}]"), "it is no JSON (expected"),
    ];
    for (body, says) in rows {
        let Err(Fault::Mismatch(fault)) = verdict(&route, 200, &[], &body).0 else {
            panic!("{body}")
        };
        assert!(fault.starts_with(says), "{fault}");
    }
}

#[test]
fn what_later_requests_need_is_captured_or_missed() {
    let of = |of: Value| {
        let mut route = get(&json!({}));
        route["captures"] = json!([{"name": "next", "of": of, "most": 20}]);
        route
    };
    let body = r#"{"a":"x\u0041","n":17,"l":[1, 2]}"#;
    let head = [("Location", "/x"), ("Set-Cookie", "sid=1; path=/")];
    let rows = [
        (json!({"json": "$.a"}), Ok("xA")),
        (json!({"json": "$.n"}), Ok("17")),
        (json!({"json": "$.l"}), Ok("[1, 2]")),
        (json!({"json": "$.l[*]"}), Ok("[1,2]")),
        (json!({"json": "$.gone"}), Err("$.gone can't be captured: it is not there, in '{")),
        (json!({"header": "location"}), Ok("/x")),
        (json!({"header": "ETag"}), Err("header ETag can't be captured: it is not there")),
        (json!({"cookie": "sid"}), Ok("1")),
        (json!({"regex": "\"n\":(.)"}), Ok("1")),
        (json!({"regex": "n\":."}), Ok("n\":1")),
        (json!("status"), Ok("201")),
        (json!("bytes"), Ok("33")),
        (json!("body"), Err("body can't be captured: it has 33 bytes, over 20")),
    ];
    for (from, expected) in rows {
        let (told, next) = verdict(&of(from.clone()), 201, &head, body);
        match (told, expected) {
            (Ok(()), Ok(value)) => assert_eq!(next, value, "{from}"),
            (Err(Fault::Capture(fault)), Err(says)) => assert!(fault.contains(says), "{fault}"),
            (told, _) => panic!("{from}: {told:?}"),
        }
    }
}

#[test]
fn what_comes_to_stand_in_a_head_can_stand_there() {
    let page = json!({
        "name": "page", "method": "GET", "target": [{"text": "/"}],
        "captures": [{"name": "next", "of": {"json": "$.next"}}, {"name": "line", "of": {"json": "$.line"}}],
    });
    let next = json!({
        "name": "next", "method": "GET", "target": [{"value": "next"}], "headers": [["A", [{"value": "line"}]]],
    });
    let plan = json!({
        "schema": "wiretrial-plan", "version": 1, "target": {"url": "http://h:80"},
        "load": {"connections": 1}, "stop": {"sessions": 1},
        "traffic": {"routes": [page, next], "flows": [{"name": "f", "steps": [{"route": 0}, {"route": 1}]}]},
    });
    let plan = Plan::from_json(&plan.to_string()).expect("a plan");
    let routes = Routes::new(plan.traffic.as_ref().expect("traffic"), &plan);
    let replies = &routes.get(0).replies;
    let told = |body: &str| {
        let (mut coming, mut values) = (Coming::default(), Values::default());
        replies.begin(&mut coming, 200, 0, std::iter::empty());
        let making = Making::default();
        let told = replies.finish(
            &mut coming,
            body.as_bytes(),
            (&mut values, making),
            &mut replies.scratch(),
        );
        told.map(|()| String::from_utf8_lossy(values.get(0)).into_owned())
    };
    assert_eq!(told(r#"{"next":"/a","line":"b"}"#), Ok("/a".to_owned()));
    assert_eq!(told(r#"{"next":"http://h/a?b","line":"\t"}"#), Ok("/a?b".to_owned()));
    assert_eq!(told(r#"{"next":"http://h","line":""}"#), Ok("/".to_owned()));
    for body in [r#"{"next":"http://other/a","line":""}"#, r#"{"next":"/a","line":"a\r\nb"}"#] {
        assert!(matches!(told(body), Err(Fault::Capture(_))), "{body}");
    }
}

#[test]
fn what_is_compressed_is_looked_at_as_it_was() {
    let check = |of: Value, with: Value| json!({"of": of, "test": {"is": "compared", "how": "==", "with": {"json": with}}});
    let items = check(json!({"json": "$.items"}), json!([1, 2, 3]));
    let looks = routes(&get(&json!({"checks": [items, check(json!("bytes"), json!(39))]})));
    let counts = routes(&get(&json!({"checks": [check(json!("bytes"), json!(39))]})));
    let passes = routes(&get(&json!({})));
    let body = include_bytes!("coding/text.zst");
    let mut coming = Coming::default();
    let head = [("content-encoding", "zstd")];
    for split in 0..=body.len() {
        let (one, two) = body.split_at(split);
        for routes in [&looks, &counts, &passes] {
            let told = told(routes, (200, &head, &[one, two]), &mut coming).0;
            assert_eq!(told, Ok(()), "at {split}");
            let fault = self::told(routes, (500, &head, &[one, two]), &mut coming).0;
            let Err(Fault::Status(fault)) = fault else { panic!("{fault:?}") };
            assert!(fault.contains("{\"items\":[1,2,3]"), "at {split}: {fault}");
        }
        // Without the field it is what it is.
        assert!(told(&looks, (200, &[], &[one, two]), &mut coming).0.is_err());
    }
    let broken = told(&looks, (200, &head, &[&body[1..]]), &mut coming).0;
    let Err(Fault::Mismatch(fault)) = broken else { panic!("{broken:?}") };
    assert!(fault.starts_with("its content is said to be zstd, and can't be read"), "{fault}");
    assert_eq!(told(&passes, (200, &head, &[&body[1..]]), &mut coming).0, Ok(()), "nobody looks");
}

/// What is said of a reply whose body comes in these pieces where its dear checks are made.
fn deep_fault(routes: &(Plan, Routes), head: Head<'_>, pieces: &[&[u8]]) -> Option<String> {
    let mut coming = Coming::default();
    assert_eq!(told(routes, (200, head, pieces), &mut coming).0, Ok(()), "each reply is right");
    coming.keep(pieces.last().expect("a piece"));
    let (plan, routes) = routes;
    let (values, making) = (values(plan), Making { seq: 4, ..Making::default() });
    let deep = routes.get(1).deep.as_ref().expect("there are dear checks");
    deep.fault(&coming, Known { values: &values, making })
}

#[test]
fn checks_with_filters_are_made_of_a_reply_that_is_kept() {
    let compared = |with: Value| json!({"is": "compared", "how": "==", "with": with});
    let checked = |checks: &Value| {
        routes(&json!({
            "method": "GET", "target": [{"text": "/"}], "expect": {"checks": checks},
        }))
    };
    let body = r#"{"seq": "5", "user": "ann!", "items": [{"p": 7}, {"p": 3}]}"#;
    let of =
        |filters: Value, test: Value| json!([{"of": "body", "filters": filters, "test": test}]);
    let md5 = "a0d3e3d1e9d7a2f4d9b9b1a3e0f3d2c1";
    let rows = [
        (of(json!([{"jsonpath": "$.items[?@.p > 5].p"}]), compared(json!({"json": [7]}))), None),
        (
            of(
                json!([{"jsonpath": "$.items[?@.p > 1].p"}, {"nth": 1}]),
                compared(json!({"json": 4})),
            ),
            Some("$.items[?@.p > 1].p nth 1 was 3, and is wanted 4: '{"),
        ),
        (of(json!(["md5"]), compared(json!({"json": md5}))), Some("body md5 was '")),
        (
            json!([{"of": {"json": "$.seq"}, "filters": ["to_int"],
                    "test": compared(json!({"text": [{"make": "seq"}]}))}]),
            None,
        ),
        (
            json!([{"of": {"json": "$.user"}, "filters": [{"replace": {"old": "!", "new": ""}}],
                    "test": compared(json!({"text": [{"value": "user"}]}))}]),
            None,
        ),
        (
            json!([{"of": {"header": "X-A"}, "filters": [{"split": ";"}], "count": true,
                    "test": compared(json!({"json": 3}))}]),
            Some("header X-A split count was 2, and is wanted 3"),
        ),
        (
            json!([{"of": {"json": "$.user"}, "filters": ["to_int"], "not": true,
                    "test": {"is": "exists"}}]),
            Some("$.user toInt: toInt can't be made of \"ann!\""),
        ),
        (
            json!([{"of": {"json": "$.none"}, "filters": ["to_int"], "test": {"is": "exists"}}]),
            Some("$.none toInt: there is nothing to make toInt of"),
        ),
    ];
    let head: Head<'_> = &[("X-B", "c"), ("X-A", "1;2")];
    for (checks, expected) in rows {
        let routes = checked(&checks);
        let body = body.as_bytes();
        for split in 0..=body.len() {
            let (one, two) = body.split_at(split);
            let fault = deep_fault(&routes, head, &[one, two]);
            let is_said = match (&fault, expected) {
                (None, None) => true,
                (Some(fault), Some(begin)) => fault.starts_with(begin),
                _ => false,
            };
            assert!(is_said, "{checks}, split at {split}: {fault:?}");
        }
    }
}
