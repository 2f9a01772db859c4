//! What the HTTP/1.1 client reads: tables of bytes and events.

use crate::common::{Case, Seen, check_client, run_client, taken};
use wiretrial_proto::http1::{Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, ErrorClass, Event, Message, MessageKind, Scratch, Tag};

/// A codec that sent these requests; `METHOD!` asks the server to close.
fn sent(methods: &[&str]) -> Http1Client {
    let head = |method: &&str| {
        let close = method.ends_with('!');
        let method = method.trim_end_matches('!');
        RequestHead::new(method, "/", "h", &[], close, PayloadLength::None).expect("a good request")
    };
    let mut codec = Http1Client::new(methods.iter().map(head).collect());
    for route in 0..methods.len() {
        codec.encode(&Message { number: 0, route, payload: b"", fill: None }, &mut Vec::new());
    }
    codec
}

fn reply(status: u16, payload: &[u8]) -> Seen {
    Seen::Reply { status, kind: MessageKind::Body, payload: payload.to_vec(), last: false }
}

fn last(status: u16, payload: &[u8]) -> Seen {
    Seen::Reply { status, kind: MessageKind::Body, payload: payload.to_vec(), last: true }
}

type Methods = &'static [&'static str];

struct Row {
    name: &'static str,
    methods: Methods,
    input: &'static str,
    fin: bool,
    expected: Vec<Seen>,
}

fn row(name: &'static str, methods: Methods, input: &'static str, expected: Vec<Seen>) -> Row {
    Row { name, methods, input, fin: false, expected }
}

/// A row whose bytes the server's FIN follows.
fn fin(name: &'static str, methods: Methods, input: &'static str, expected: Vec<Seen>) -> Row {
    Row { fin: true, ..row(name, methods, input, expected) }
}

const GET: &[&str] = &["GET"];
const TWO: &[&str] = &["GET", "GET"];

/// Bodies whose length their head tells (RFC 9112 section 6.3).
fn lengths() -> Vec<Row> {
    vec![
        row(
            "length",
            GET,
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            vec![reply(200, b"hello")],
        ),
        row("no bytes", GET, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", vec![reply(200, b"")]),
        row("no reason", GET, "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", vec![reply(404, b"")]),
        row(
            "any case, any space",
            GET,
            "HTTP/1.1 200 OK\r\ncoNTENT-lENGTH:\t 2 \t\r\n\r\nok",
            vec![reply(200, b"ok")],
        ),
        row(
            "later minor version",
            GET,
            "HTTP/1.9 200 OK\r\nContent-Length: 0\r\n\r\n",
            vec![reply(200, b"")],
        ),
        row(
            "empty value, tab, obs-text",
            GET,
            "HTTP/1.1 200 \u{e9}\r\nA:\r\nB: x\ty \u{e9}\r\nContent-Length: 1\r\n\r\n.",
            vec![reply(200, b".")],
        ),
        row(
            "equal lengths",
            GET,
            "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 02\r\n\r\nok",
            vec![reply(200, b"ok")],
        ),
    ]
}

/// Bodies in chunks, and without any framing (RFC 9112 sections 7.1 and 6.3).
fn chunked_or_until_end() -> Vec<Row> {
    vec![
        row(
            "one chunk",
            GET,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            vec![reply(200, b"hello")],
        ),
        row(
            "chunks, extensions, trailers",
            GET,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n\
             5;a=b\r\nhello\r\n00A ; c=\"d\"\t\r\n, 12345678\r\n0;z\r\nDigest: x\r\nB:\r\n\r\n",
            vec![reply(200, b"hello, 12345678")],
        ),
        row(
            "empty chunked",
            GET,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: , chunked ,\r\n\r\n0\r\n\r\n",
            vec![reply(200, b"")],
        ),
        row(
            "chunks that look like an end",
            GET,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n0\r\n\r\n\r\n0\r\nA: b\r\n\r\n",
            vec![reply(200, b"0\r\n\r\n")],
        ),
        row(
            "length in trailers does not count",
            TWO,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 9\r\n\r\n\
             HTTP/1.1 204 No Content\r\n\r\n",
            vec![reply(200, b""), reply(204, b"")],
        ),
        fin("until the end", GET, "HTTP/1.1 200 OK\r\n\r\nhello", vec![last(200, b"hello")]),
        fin("until the end, nothing", GET, "HTTP/1.1 200 OK\r\n\r\n", vec![last(200, b"")]),
        row(
            "until the end, which is missing",
            GET,
            "HTTP/1.1 200 OK\r\n\r\nhello",
            vec![Seen::Part(b"hello".to_vec())],
        ),
    ]
}

/// What has no body, and what is no reply yet (RFC 9110 sections 6.4.1 and 15.2).
fn bodiless() -> Vec<Row> {
    vec![
        row(
            "1xx are skipped",
            GET,
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
             HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            vec![reply(200, b"ok")],
        ),
        row(
            "1xx have no body whatever they say",
            GET,
            "HTTP/1.1 102 Processing\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            vec![reply(200, b"")],
        ),
        row(
            "204 and 304 have no body",
            TWO,
            "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\n\r\n",
            vec![reply(204, b""), reply(304, b"")],
        ),
        row(
            "HEAD has no body",
            &["GET", "HEAD", "HEAD", "GET"],
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na\
             HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\
             HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
             HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb",
            vec![reply(200, b"a"), reply(200, b""), reply(200, b""), reply(200, b"b")],
        ),
        row(
            "HEAD without framing keeps the connection",
            &["HEAD"],
            "HTTP/1.1 200 OK\r\n\r\n",
            vec![reply(200, b"")],
        ),
    ]
}

/// Many replies, and the last (RFC 9112 section 9).
fn in_a_row() -> Vec<Row> {
    vec![
        row(
            "pipelined",
            TWO,
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na\
             HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n",
            vec![reply(200, b"a"), reply(500, b"b")],
        ),
        row(
            "close",
            GET,
            "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\na",
            vec![last(200, b"a")],
        ),
        row(
            "HTTP/1.0 closes",
            GET,
            "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
            vec![last(200, b"a")],
        ),
        row(
            "HTTP/1.0 keeps where it says so",
            GET,
            "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na",
            vec![reply(200, b"a")],
        ),
        row(
            "close wins over keep-alive",
            GET,
            "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            vec![last(200, b"")],
        ),
        row(
            "the request asked to close",
            &["GET", "GET!"],
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            vec![reply(200, b""), last(200, b"")],
        ),
        fin(
            "the end after a reply",
            GET,
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            vec![reply(200, b"")],
        ),
        fin("the end before a reply", GET, "", vec![]),
        fin(
            "the end after the last reply",
            TWO,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            vec![last(200, b"")],
        ),
    ]
}

#[test]
fn replies_are_read_however_they_are_split() {
    let rows = [lengths(), chunked_or_until_end(), bodiless(), in_a_row()];
    for row in rows.into_iter().flatten() {
        // Bytes behind what was asked for fail the connection, unless they are the body's.
        let until_end = row.fin || matches!(row.expected.last(), Some(Seen::Part(_)));
        let behind = vec![Seen::Error(ErrorClass::Protocol)];
        let case = Case {
            name: row.name,
            input: row.input.as_bytes(),
            fin: row.fin,
            expected: row.expected,
            trailing: (!until_end).then_some((b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), behind)),
        };
        let out = check_client(&case, || sent(row.methods));
        assert!(out.is_empty(), "{}: a client answers nothing", row.name);
    }
}

/// Heads and bodies that must be refused, and the rule that says so.
const REJECTED: &[(&str, &str)] = &[
    ("RFC 9112 4: version", "HTTP/2.0 200 OK\r\n\r\n"),
    ("RFC 9112 4: version", "HTTP/1.x 200 OK\r\n\r\n"),
    ("RFC 9112 2.3: the name is case-sensitive", "http/1.1 200 OK\r\n\r\n"),
    ("RFC 9112 4: one space", "HTTP/1.1  200 OK\r\n\r\n"),
    ("RFC 9112 4: a space behind the status", "HTTP/1.1 200\r\n\r\n"),
    ("RFC 9112 4: three digits", "HTTP/1.1 20 OK\r\n\r\n"),
    ("RFC 9112 4: three digits", "HTTP/1.1 2000 OK\r\n\r\n"),
    ("RFC 9112 4: three digits", "HTTP/1.1 +20 OK\r\n\r\n"),
    ("RFC 9110 15: 100 to 599", "HTTP/1.1 099 OK\r\n\r\n"),
    ("RFC 9110 15: 100 to 599", "HTTP/1.1 600 OK\r\n\r\n"),
    ("RFC 9112 2.2: no empty line before a response", "\r\nHTTP/1.1 200 OK\r\n\r\n"),
    ("RFC 9110 15.2.2: 101 only when asked for", "HTTP/1.1 101 Switching Protocols\r\n\r\n"),
    ("RFC 9112 2.2: bare CR", "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n"),
    ("RFC 9112 2.2: bare LF", "HTTP/1.1 200 OK\nA: b\r\n\r\n"),
    ("RFC 9110 5.5: NUL", "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n"),
    ("RFC 9110 5.5: control characters", "HTTP/1.1 200 OK\r\nA: b\x1bc\r\n\r\n"),
    ("RFC 9112 2.2: space before the first field", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n"),
    ("RFC 9112 5.1: space before the colon", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n"),
    ("RFC 9112 5: a field has a colon", "HTTP/1.1 200 OK\r\nAb\r\n\r\n"),
    ("RFC 9110 5.1: a name is a token", "HTTP/1.1 200 OK\r\n: b\r\n\r\n"),
    ("RFC 9110 5.1: a name is a token", "HTTP/1.1 200 OK\r\nA(: b\r\n\r\n"),
    ("RFC 9110 8.6: a length is a number", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    ("RFC 9110 8.6: a length is a number", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n"),
    ("RFC 9110 8.6: a length is a number", "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\n"),
    ("RFC 9110 8.6: a length is a number", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"),
    ("RFC 9110 8.6: a length is a number", "HTTP/1.1 200 OK\r\nContent-Length: 1,\r\n\r\n"),
    (
        "RFC 9112 6.3: a length that does not fit",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
    ),
    (
        "RFC 9112 6.3: two lengths",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ),
    ("RFC 9112 6.3: two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n"),
    (
        "RFC 9112 6.3: length and coding",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
    ),
    (
        "RFC 9112 6.3: length and coding, in either order",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
    ),
    ("RFC 9112 6.1: coding in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    (
        "RFC 9112 6.1: chunked once",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
    ),
    (
        "RFC 9112 7.4: a coding nobody asked for",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    ),
    ("RFC 9112 6.1: a coding is named", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n"),
];

/// Chunked bodies that must be refused.
const BAD_CHUNKS: &[(&str, &str)] = &[
    ("RFC 9112 7.1: a size", "\r\n\r\n"),
    ("RFC 9112 7.1: hexadecimal", "g\r\n"),
    ("RFC 9112 7.1: hexadecimal", "0x5\r\nhello\r\n"),
    ("RFC 9112 7.1: unsigned", "-1\r\n"),
    ("RFC 9112 7.1: no space before", " 5\r\nhello\r\n"),
    ("RFC 9112 7.1: no space behind", "5 \r\nhello\r\n"),
    ("RFC 9112 7.1: a size that does not fit", "10000000000000000\r\n"),
    ("RFC 9112 7.1: a size that does not fit", "00000000000000005\r\n"),
    ("RFC 9112 7.1: bare LF", "5\nhello"),
    ("RFC 9112 7.1.1: control in an extension", "5;a\x01\r\nhello"),
    ("RFC 9112 2.2: bare CR in an extension", "5;a\rb\r\nhello"),
    ("RFC 9112 7.1: longer than its size", "5\r\nhello!\r\n0\r\n\r\n"),
    ("RFC 9112 7.1: bare LF behind a chunk", "5\r\nhello\n0\r\n\r\n"),
    ("RFC 9112 7.1.2: a trailer is a field", "0\r\nAb\r\n\r\n"),
    ("RFC 9112 5.1: space before the colon", "0\r\nA : b\r\n\r\n"),
    ("RFC 9110 5.5: NUL in a trailer", "0\r\nA: \0\r\n\r\n"),
];

#[test]
fn what_the_rules_forbid_is_refused() {
    let chunked = BAD_CHUNKS.iter().map(|(rule, body)| {
        (*rule, format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"))
    });
    let heads = REJECTED.iter().map(|(rule, head)| (*rule, (*head).to_owned()));
    for (rule, input) in heads.chain(chunked) {
        let name = format!("{rule}: {input:?}");
        refused(&name, input.as_bytes(), ErrorClass::Protocol);
    }
}

#[test]
fn garbage_is_refused_before_its_head_ends() {
    for input in ["SSH-2.0-OpenSSH_9.2", "\x15\x03\x01", "H2", "HTTP/2", "\r", "\n", "{"] {
        refused(input, input.as_bytes(), ErrorClass::Protocol);
    }
}

#[test]
fn heads_and_trailers_over_64_kib_are_too_large() {
    let limit = 64 * 1024;
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
    let fill = |begin: &str, length: usize| {
        let value = "x".repeat(length - begin.len() - "A: \r\n\r\n".len());
        format!("{begin}A: {value}\r\n\r\n")
    };
    let fits = fill(head, limit);
    assert_eq!(fits.len(), limit);
    let case = Case {
        name: "a head of just 64 KiB",
        input: fits.as_bytes(),
        fin: false,
        expected: vec![reply(200, b"")],
        trailing: None,
    };
    check_client(&case, || sent(&["GET"]));
    refused("a head", fill(head, limit + 1).as_bytes(), ErrorClass::HeaderTooLarge);
    let endless = format!("HTTP/1.1 200 {}", "x".repeat(limit));
    refused("a status line", endless.as_bytes(), ErrorClass::HeaderTooLarge);
    refused("the first 64 KiB", &endless.as_bytes()[..limit], ErrorClass::HeaderTooLarge);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    let trailers = format!("{chunked}{}", fill("", limit + 1));
    refused("trailers", trailers.as_bytes(), ErrorClass::HeaderTooLarge);
    let extension = format!("{}5;{}\r\n", &chunked[..chunked.len() - 3], "x".repeat(4096));
    refused("an extension", extension.as_bytes(), ErrorClass::Protocol);
}

#[test]
fn an_end_inside_a_reply_truncates_it() {
    let head = "HTTP/1.1 200 OK\r\n";
    let bodies = [
        "H".to_owned(),
        head.to_owned(),
        format!("{head}Content-Length: 5\r\n\r\n"),
        format!("{head}Content-Length: 5\r\n\r\nhell"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n0\r\n"),
        "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
    ];
    for input in bodies {
        let case = Case {
            name: &input,
            input: input.as_bytes(),
            fin: true,
            expected: vec![Seen::Error(ErrorClass::Truncated)],
            trailing: None,
        };
        check_client(&case, || sent(&["GET"]));
    }
}

#[test]
fn a_reply_that_is_all_there_comes_in_one_piece() {
    let mut scratch = Scratch::new();
    for input in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ] {
        let mut codec = sent(&["GET"]);
        let step = codec.receive(input.as_bytes(), &mut scratch, &mut Vec::new()).unwrap();
        assert_eq!(step.consumed, input.len());
        let Some(Event::Reply(reply)) = step.event else {
            panic!("{step:?}");
        };
        assert_eq!(reply.payload, b"hello");
    }
}

#[test]
fn payload_is_always_consumed() {
    let mut scratch = Scratch::new();
    let mut codec = sent(&["GET"]);
    let input = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello";
    let step = codec.receive(input, &mut scratch, &mut Vec::new()).unwrap();
    assert_eq!(
        (step.consumed, step.event),
        (input.len(), Some(Event::Chunk { tag: Tag::Oldest, piece: b"hello" }))
    );
}

#[test]
fn it_says_when_no_request_may_follow() {
    let mut codec = sent(&["GET"]);
    assert!(codec.is_open());
    run_client(&mut codec, b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", &[], false);
    assert!(!codec.is_open(), "the server closes");
    assert!(!sent(&["GET!"]).is_open(), "the request asked to close");
    let mut codec = sent(&[]);
    codec.close(&mut Vec::new());
    assert!(!codec.is_open(), "the caller closed");
    let mut codec = sent(&[]);
    assert_eq!(codec.end(), Ok(None));
    assert!(!codec.is_open(), "the server's FIN");
}

#[test]
fn a_connection_costs_little_memory() {
    assert!(size_of::<Http1Client>() <= 100, "{} bytes", size_of::<Http1Client>());
}

fn refused(name: &str, input: &[u8], class: ErrorClass) {
    let case = Case { name, input, fin: false, expected: vec![Seen::Error(class)], trailing: None };
    check_client(&case, || sent(&["GET"]));
}

/// What clients share of which one has read this reply.
fn known_to(reply: &str) -> Scratch {
    let mut scratch = Scratch::new();
    let step = sent(&["GET"]).receive(reply.as_bytes(), &mut scratch, &mut Vec::new());
    assert!(matches!(step.expect("a good reply").event, Some(Event::Reply(_))));
    scratch
}

#[test]
fn without_events_come_whole_replies_with_the_head_that_was_read_last() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    const OTHER: &str = "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n";
    const LAST: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n";
    type Words = &'static [&'static str];
    let rows: [(&str, &str, Words, String, Words); 8] = [
        ("two", HEAD, &["GET", "GET"], format!("{HEAD}ab{HEAD}cd"), &["ab", "cd"]),
        ("more than were asked for", HEAD, &["GET"], format!("{HEAD}ab{HEAD}cd"), &["ab"]),
        ("another head", HEAD, &["GET", "GET"], format!("{HEAD}ab{OTHER}cd"), &["ab"]),
        ("a body that is not whole", HEAD, &["GET"], format!("{HEAD}a"), &[]),
        ("a head that is not whole", HEAD, &["GET"], HEAD[..20].to_owned(), &[]),
        ("to a request for a head alone", HEAD, &["HEAD", "GET"], format!("{HEAD}{HEAD}ab"), &[]),
        ("the last one", LAST, &["GET", "GET"], format!("{LAST}ab"), &[]),
        ("to a request that asks to close", HEAD, &["GET", "GET!"], format!("{HEAD}ab"), &[]),
    ];
    for (name, known, methods, input, expected) in rows {
        let scratch = known_to(&format!("{known}ab"));
        let (seen, count) = taken(sent(methods), &scratch, input.as_bytes(), usize::MAX);
        assert_eq!(seen, expected, "{name}");
        assert_eq!(count, expected.len() * (known.len() + 2), "{name}");
    }
}

#[test]
fn without_events_none_comes_inside_a_reply_or_behind_an_interim_one() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    let begun = [format!("{HEAD}a"), "HTTP/1.1 100 Continue\r\n\r\n".to_owned(), HEAD[..9].into()];
    for begun in begun {
        let (mut client, mut scratch) = (sent(&["GET", "GET"]), known_to(&format!("{HEAD}ab")));
        client.receive(begun.as_bytes(), &mut scratch, &mut Vec::new()).expect("so far good");
        let input = format!("{HEAD}ab");
        assert_eq!(taken(client, &scratch, input.as_bytes(), 9).1, 0, "{begun}");
    }
}
