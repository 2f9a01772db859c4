use super::*;
use crate::Fill;

fn fields(request: &Http2Request, length: u64, fill: Option<&Fill<'_>>) -> Vec<String> {
    let mut block = Vec::new();
    request.rendered(Table::Unused).write(length, fill, &mut block);
    read(&mut HpackDecoder::new(0), &block)
}

fn read(decoder: &mut HpackDecoder, block: &[u8]) -> Vec<String> {
    let mut list = FieldList::default();
    decoder.read(block, 65_536, &mut list).unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    list.iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect()
}

#[test]
fn a_request_is_encoded_once() {
    let text = |text| vec![HeadPart::Text(text)];
    let headers = [("Accept", text(" */* ")), ("Authorization", text("Bearer x"))];
    let request = Http2Request::with_holes(
        "https",
        "POST",
        &text("/a?b"),
        "example.org",
        &headers,
        false,
        PayloadLength::None,
    );
    let request = request.unwrap();
    assert_eq!(
        fields(&request, 0, None),
        [
            ":method=POST",
            ":scheme=https",
            ":authority=example.org",
            ":path=/a?b",
            "accept=*/*",
            "authorization=Bearer x",
            "content-length=0",
        ]
    );
    assert!(request.whole.same(None).is_some(), "one block, that is copied");
}

#[test]
fn a_call_takes_trailers_and_says_no_length() {
    let made = |headers: &[(&str, &str)]| {
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (*name, vec![HeadPart::Text(value)])).collect();
        let call = Http2Request::call("http", "/p.S/M", "a:1", &headers, false);
        call.map(|call| fields(&call, 5, None))
    };
    let begin = [":method=POST", ":scheme=http", ":authority=a:1", ":path=/p.S/M"];
    let typed = ["content-type=application/grpc", "grpc-timeout=1S", "te=trailers"];
    assert_eq!(made(&[("grpc-timeout", "1S")]).unwrap(), [&begin[..], &typed].concat());
    let own = made(&[("Content-Type", "application/grpc+proto")]).unwrap();
    assert_eq!(own[4..], ["content-type=application/grpc+proto", "te=trailers"]);
    assert!(made(&[("te", "gzip")]).is_err());
}

#[test]
fn values_are_laid_into_holes() {
    let target =
        [HeadPart::Text("/items/"), HeadPart::Hole, HeadPart::Text("?of="), HeadPart::Hole];
    let headers = [("X-Trace", vec![HeadPart::Hole])];
    let request = Http2Request::with_holes(
        "http",
        "PUT",
        &target,
        "a:8080",
        &headers,
        true,
        PayloadLength::Varying,
    );
    let request = request.unwrap();
    assert!(request.whole.closes() && !request.whole.is_head());
    let values = "17meabc";
    let fill =
        Fill { values: values.as_bytes(), ends: &[2, 4, 7], cookies: b"session=1; theme=dark" };
    assert_eq!(
        fields(&request, 4096, Some(&fill)),
        [
            ":method=PUT",
            ":scheme=http",
            ":authority=a:8080",
            ":path=/items/17?of=me",
            "x-trace=abc",
            "cookie=session=1; theme=dark",
            "content-length=4096",
        ]
    );
}

#[test]
fn what_http_does_not_allow_is_refused_in_the_same_words() {
    let target = [HeadPart::Text("/a b")];
    let made =
        Http2Request::with_holes("http", "GET", &target, "a", &[], false, PayloadLength::None);
    assert_eq!(made.err(), Some(BadRequest::Target("/a b".to_owned())));
}

/// A request that is kept, with credentials, a cookie, and a field that is another's in each.
fn kept(payload: PayloadLength) -> Http2Request {
    let text = |text| vec![HeadPart::Text(text)];
    let headers = [
        ("Accept", text("text/html, */*;q=0.8")),
        ("Authorization", text("Bearer of-no-use")),
        ("X-Trace", vec![HeadPart::Text("of "), HeadPart::Hole]),
        ("Cookie", text("theme=dark; lang=en")),
        ("X-Tenant", text("blue")),
    ];
    Http2Request::keeping("https", "POST", &text("/a"), "h", &headers, false, payload).unwrap()
}

fn said(trace: &str, length: u64) -> Vec<String> {
    let fixed = |text: &str| text.to_owned();
    vec![
        fixed(":method=POST"),
        fixed(":scheme=https"),
        fixed(":authority=h"),
        fixed(":path=/a"),
        fixed("accept=text/html, */*;q=0.8"),
        fixed("authorization=Bearer of-no-use"),
        format!("x-trace=of {trace}"),
        fixed("cookie=theme=dark; lang=en"),
        fixed("x-tenant=blue"),
        format!("content-length={length}"),
    ]
}

#[test]
fn what_is_alike_stays_with_the_peer_and_says_the_same() {
    for payload in [PayloadLength::Fixed(20), PayloadLength::Varying] {
        let (request, mut peer) = (kept(payload), HpackDecoder::new(4096));
        let mut lengths = Vec::new();
        for (table, trace) in
            [(Table::Empty, "one"), (Table::Filled, "two"), (Table::Filled, "three")]
        {
            let fill = Fill { values: trace.as_bytes(), ends: &[trace.len() as u32], cookies: b"" };
            let mut block = Vec::new();
            request.rendered(table).write(20, Some(&fill), &mut block);
            assert_eq!(read(&mut peer, &block), said(trace, 20), "{payload:?}");
            lengths.push(block.len());
        }
        assert!(lengths[1] + 20 < lengths[0], "{lengths:?}");
        assert_eq!(lengths[1] + 2, lengths[2], "another value alone: {lengths:?}");
    }
}

#[test]
fn where_the_peer_keeps_nothing_each_says_all_of_it() {
    let request = kept(PayloadLength::Varying);
    let fill = Fill { values: b"one", ends: &[3], cookies: b"" };
    assert_eq!(fields(&request, 7, Some(&fill)), said("one", 7));
}
