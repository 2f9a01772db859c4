//! Heads that come again are compared in place of being read: nothing else may follow from them.

use wiretrial_proto::grpc::framed;
use wiretrial_proto::http2::Http2Client;
use wiretrial_proto::{ClientSession as _, Event, Reply, Scratch};

use super::calls::{self, asked, calls};
use super::client::three;
use super::frames::*;
use super::play::check;

/// HEADERS whose fields refer to the table, or change it.
fn raw(flags: u8, stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, WHOLE | flags, stream, block)
}

/// A literal that is added to the table: a name and a value of one byte each.
fn added(name: u8, value: u8) -> [u8; 5] {
    [0x40, 1, name, 1, value]
}

/// `:status 200`, and `:status 404`, of the static table.
const OK: u8 = 0x88;
const NOT_FOUND: u8 = 0x8d;
/// The entry that was added last.
const NEWEST: u8 = 0xbe;

fn seen(bytes: &[Vec<u8>]) -> Vec<String> {
    check(three, &bytes.concat()).events
}

#[test]
fn the_same_head_on_the_next_stream_says_the_same() {
    let head = |stream| headers(0, stream, &[":status=404", "content-length=2", "a=b"]);
    let events = seen(&[
        head(1),
        head(3),
        frame(DATA, END, 3, b"no"),
        head(5),
        frame(DATA, END, 1, b"nn"),
        frame(DATA, END, 5, b"more"),
    ]);
    // The length that it tells holds on each stream.
    assert_eq!(events, ["reply 11 404 'no'", "reply 10 404 'nn'", "failed 12 Protocol"]);
}

#[test]
fn a_head_that_ends_its_stream_is_another_than_one_that_does_not() {
    let head = |flags, stream| headers(flags, stream, &[":status=200", "content-length=2"]);
    let events = seen(&[head(0, 1), head(END, 3), head(0, 5), frame(DATA, END, 5, b"ab")]);
    assert_eq!(events, ["failed 11 Protocol", "reply 12 200 'ab'"]);
    let empty = |stream| headers(END, stream, &[":status=204"]);
    let events = seen(&[empty(5), empty(1), empty(3)]);
    assert_eq!(events, ["reply 12 204 ''", "reply 10 204 ''", "reply 11 204 ''"]);
}

#[test]
fn an_index_means_what_the_table_has_now() {
    // The name of the status with the value of an entry that is another one each time.
    let status = |value: &[u8; 3]| [&[0x48, 3][..], value].concat();
    let newest = |stream| raw(END, stream, &[NEWEST]);
    let events = seen(&[
        raw(END, 1, &status(b"201")),
        newest(3),
        // Nothing but a trailing change in between: on a stream that is over by then.
        raw(END, 5, &[&[OK][..], &added(b'a', b'b')].concat()),
    ]);
    assert_eq!(events, ["reply 10 201 ''", "reply 11 201 ''", "reply 12 200 ''"]);
    let events = seen(&[
        raw(0, 1, &[&[OK][..], &added(b'a', b'1')].concat()),
        raw(0, 3, &[OK, NEWEST]),
        raw(END, 1, &added(b'b', b' ')),
        // The same bytes, whose index is now a field that no reply has.
        raw(0, 5, &[OK, NEWEST]),
        frame(DATA, END, 3, b"x"),
    ]);
    assert_eq!(events, ["failed 10 Protocol", "failed 12 Protocol", "reply 11 200 'x'"]);
}

#[test]
fn the_same_block_adds_to_the_table_each_time() {
    let adds = |stream| raw(END, stream, &[&[OK][..], &added(b'a', b'1')].concat());
    // Of 4,096 bytes each entry takes 34; after two the older one has index 63.
    let events = seen(&[adds(1), adds(3), raw(END, 5, &[NOT_FOUND, 0xbf])]);
    assert_eq!(events, ["reply 10 200 ''", "reply 11 200 ''", "reply 12 404 ''"]);
    let events = seen(&[adds(1), raw(END, 5, &[NOT_FOUND, 0xbf])]);
    assert_eq!(events, ["reply 10 200 ''", "error Protocol"]);
}

#[test]
fn an_interim_head_and_one_that_is_wrong_are_read_each_time() {
    let early = |stream| headers(0, stream, &[":status=103", "link=x"]);
    let events = seen(&[
        early(1),
        early(1),
        early(3),
        headers(END, 1, &[":status=200"]),
        headers(END, 3, &[":status=200"]),
        headers(0, 5, &[":status=200", ":status=200"]),
    ]);
    assert_eq!(events, ["reply 10 200 ''", "reply 11 200 ''", "failed 12 Protocol"]);
    let wrong = |stream| headers(END, stream, &[":status=200", "Upper=x"]);
    let failed = ["failed 10 Protocol", "failed 11 Protocol", "failed 12 Protocol"];
    assert_eq!(seen(&[wrong(1), wrong(3), wrong(5)]), failed);
}

#[test]
fn calls_end_with_the_same_trailers() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let trailers = |stream, status| headers(END, stream, &[status, "a=b"]);
    let bytes = [
        calls::head(1),
        calls::head(3),
        frame(DATA, 0, 1, &message),
        trailers(1, "grpc-status=0"),
        // The same, inside a message.
        frame(DATA, 0, 3, &message[..6]),
        trailers(3, "grpc-status=0"),
        calls::head(5),
        frame(DATA, 0, 5, &message),
        trailers(5, "grpc-status=0"),
    ];
    let whole = "reply 10 0 '\0\0\0\0\u{3}yes'";
    let last = "reply 12 0 '\0\0\0\0\u{3}yes'";
    let events = check(|| calls().0, &bytes.concat()).events;
    assert_eq!(events, [whole, "failed 11 Protocol", last]);
}

/// What replies come to without events, and how many bytes those were, once these are known.
fn taken_behind(
    mut client: Http2Client,
    known: &[u8],
    bytes: &[u8],
    wants: impl Fn(&Reply<'_>) -> bool,
) -> (Vec<String>, usize) {
    let (mut scratch, mut out, mut replies) = (Scratch::new(), Vec::new(), Vec::new());
    let mut rest = known;
    while !rest.is_empty() {
        let step = client.receive(rest, &mut scratch, &mut out).expect("frames");
        rest = &rest[step.consumed..];
    }
    let taken = client.replies(bytes, &scratch, |reply| {
        let is_wanted = wants(reply);
        if is_wanted {
            let content = String::from_utf8_lossy(reply.payload).into_owned();
            replies.push(format!("{:?} {} {content}", reply.tag, reply.status));
        }
        is_wanted
    });
    (replies, taken)
}

fn taken(bytes: &[u8], wants: impl Fn(&Reply<'_>) -> bool) -> (Vec<String>, usize) {
    let known = [headers(0, 1, &[":status=200", "a=b"]), frame(DATA, END, 1, b"one")].concat();
    taken_behind(three(), &known, bytes, wants)
}

#[test]
fn plain_replies_need_no_events_however_their_frames_are_mixed() {
    let head = |stream| headers(0, stream, &[":status=200", "a=b"]);
    let (second, third) = (frame(DATA, END, 3, b"two"), frame(DATA, END, 5, b"three"));
    let both = ["Number(12) 200 three", "Number(11) 200 two"].map(str::to_owned).to_vec();
    let bytes = [head(3), head(5), third.clone(), second.clone()].concat();
    assert_eq!(taken(&bytes, |_| true), (both, bytes.len()));
    // Heads are taken in, and what nobody wants stays.
    let heads = head(3).len() + head(5).len();
    assert_eq!(taken(&bytes, |_| false), (vec![], heads));
    assert_eq!(taken(&bytes[..bytes.len() - 1], |_| true).1, bytes.len() - second.len());
}

#[test]
fn a_reply_that_comes_whole_is_taken_whole_and_its_head_alone_where_nobody_wants_it() {
    let head = |stream| headers(0, stream, &[":status=200", "a=b"]);
    let whole = |stream, content: &[u8]| [head(stream), frame(DATA, END, stream, content)].concat();
    let bytes = [whole(5, b"three"), whole(3, b"two")].concat();
    let both = ["Number(12) 200 three", "Number(11) 200 two"].map(str::to_owned).to_vec();
    assert_eq!(taken(&bytes, |_| true), (both.clone(), bytes.len()));
    let first = whole(5, b"three").len();
    let wanted = |reply: &Reply<'_>| reply.payload == b"three";
    assert_eq!(taken(&bytes, wanted), (both[..1].to_vec(), first + head(3).len()));
    assert_eq!(taken(&bytes[..bytes.len() - 1], |_| true).1, first + head(3).len());
    assert_eq!(taken(&[&bytes[..first], &bytes].concat(), |_| true).1, first, "it is over");
}

#[test]
fn a_head_that_only_adds_is_known_once_the_table_holds_nothing_else() {
    let content = |stream| frame(DATA, END, stream, b"abc");
    let head = |stream| raw(0, stream, &[&[OK][..], &added(b'a', b'1')].concat());
    // A table of so many bytes, where an entry takes 34.
    let known = |size: u8| {
        let block = [&[0x3f, size - 31, OK][..], &added(b'b', b'2')].concat();
        [raw(0, 1, &block), content(1), head(3), content(3)].concat()
    };
    let bytes = [head(5), content(5)].concat();
    let reply = vec!["Number(12) 200 abc".to_owned()];
    assert_eq!(taken_behind(three(), &known(34), &bytes, |_| true), (reply, bytes.len()));
    assert_eq!(taken_behind(three(), &known(35), &bytes, |_| true), (vec![], 0));
    assert_eq!(taken_behind(three(), &known(68), &bytes, |_| true), (vec![], 0));
    // An index into the table finds what a table does that read each of them.
    let newest = raw(END, 5, &[NOT_FOUND, NEWEST]);
    let events = seen(&[known(34), newest.clone()]);
    assert_eq!(events, ["reply 10 200 'abc'", "reply 11 200 'abc'", "reply 12 404 ''"]);
    let older = raw(END, 5, &[NOT_FOUND, NEWEST + 1]);
    assert_eq!(seen(&[known(68), older.clone()])[2], "reply 12 404 ''");
    assert_eq!(seen(&[known(34), older])[2], "error Protocol");
}

#[test]
fn what_is_not_plain_is_left_to_its_events() {
    let head = |stream| headers(0, stream, &[":status=200", "a=b"]);
    let content = |stream| frame(DATA, END, stream, b"two");
    for (begin, what) in [
        (headers(0, 3, &[":status=404", "a=b"]), "another head"),
        (headers(0, 1, &[":status=200", "a=b"]), "a stream that is over"),
        (headers(END, 3, &[":status=200", "a=b"]), "no content"),
        (content(3), "content before a head"),
        (frame(8, 0, 0, &[0, 0, 0, 1]), "a window"),
    ] {
        let bytes = [begin, head(3), content(3)].concat();
        assert_eq!(taken(&bytes, |_| true), (vec![], 0), "{what}");
    }
    for (behind, what) in [
        (head(3), "fields behind the head"),
        (frame(DATA, 0, 3, b"two"), "content that goes on"),
        (frame(DATA, END | 8, 3, &[1, b'a', 0]), "padding"),
        (frame(DATA, END, 3, &vec![0; 16_385]), "a long frame"),
    ] {
        let bytes = [head(3), behind, content(3)].concat();
        assert_eq!(taken(&bytes, |_| true), (vec![], head(3).len()), "{what}");
    }
}

#[test]
fn calls_that_succeed_need_no_events() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let content = |stream, flags, content: &[u8]| frame(DATA, flags, stream, content);
    let trailers = |stream, status| headers(END, stream, &[status, "a=b"]);
    let good = |stream| trailers(stream, "grpc-status=0");
    let known = [calls::head(1), content(1, 0, &message), good(1)].concat();
    let seen = |bytes: &[u8]| taken_behind(calls().0, &known, bytes, |_| true);

    let [second, third] =
        [3, 5].map(|stream| [content(stream, 0, &message), good(stream)].concat());
    let bytes = [calls::head(3), calls::head(5), third, second].concat();
    let both = ["Number(12) 0 \0\0\0\0\u{3}yes", "Number(11) 0 \0\0\0\0\u{3}yes"];
    assert_eq!(seen(&bytes), (both.map(str::to_owned).to_vec(), bytes.len()));
    for (behind, what) in [
        ([content(3, 0, &message), trailers(3, "grpc-status=1")], "a failure"),
        ([content(3, 0, &message), good(5)], "the end of another call"),
        ([content(3, 0, &message[..6]), good(3)], "a message that breaks off"),
        ([content(3, 0, b""), good(3)], "no message"),
        ([content(3, END, &message), vec![]], "no status"),
        ([content(3, 0, &message), good(3)[..9].to_vec()], "half an end"),
    ] {
        let bytes = [&[calls::head(3)][..], &behind].concat().concat();
        assert_eq!(seen(&bytes), (vec![], calls::head(3).len()), "{what}");
    }
}

#[test]
fn requests_and_calls_side_by_side_need_no_events() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let content = |stream, flags| frame(DATA, flags, stream, &message);
    let good = |stream| headers(END, stream, &["grpc-status=0", "a=b"]);
    let seen = |are_calls, known: &[Vec<u8>], bytes: &[u8]| {
        taken_behind(asked(are_calls).0, &known.concat(), bytes, |_| true)
    };
    let of_call = [calls::head(1), content(1, 0), good(1)];
    let mixed = [true, false, true];
    let bytes = [calls::head(3), calls::head(5), content(5, 0), good(5), content(3, END)].concat();
    let both = ["Number(12) 0 \0\0\0\0\u{3}yes", "Number(11) 200 \0\0\0\0\u{3}yes"];
    assert_eq!(seen(mixed, &of_call, &bytes), (both.map(str::to_owned).to_vec(), bytes.len()));
    // What ends one of them does not end the other.
    let bytes = [calls::head(3), content(3, 0), good(3)].concat();
    assert_eq!(seen(mixed, &of_call, &bytes), (vec![], calls::head(3).len()));
    let bytes = [calls::head(5), content(5, END)].concat();
    assert_eq!(seen(mixed, &of_call, &bytes), (vec![], calls::head(5).len()));
    // A head that a request takes, and a call does not.
    let page = |stream| headers(0, stream, &[":status=200", "content-type=text/html"]);
    let of_page = [page(1), content(1, END)];
    let bytes = [page(5), page(3), content(5, END)].concat();
    assert_eq!(seen([false, true, false], &of_page, &bytes), (vec![], page(5).len()));
}

#[test]
fn the_same_fields_say_something_else_of_a_call() {
    let seen = |bytes: &[Vec<u8>]| check(|| asked([false, true, false]).0, &bytes.concat()).events;
    let page = |stream| headers(0, stream, &[":status=200", "content-type=text/html"]);
    let ended = |stream| frame(DATA, END, stream, b"");
    let events = seen(&[page(1), page(3), page(5), ended(1), ended(5)]);
    assert_eq!(events, ["failed 11 Protocol", "reply 10 200 ''", "reply 12 200 ''"]);
    let behind = |stream| headers(END, stream, &["grpc-status=5"]);
    let all = [calls::head(1), calls::head(3), calls::head(5), behind(1), behind(3), behind(5)];
    assert_eq!(seen(&all), ["reply 10 200 ''", "reply 11 5 ''", "reply 12 200 ''"]);
    let wrong = |stream| headers(END, stream, &["grpc-status=five"]);
    let all = [calls::head(1), calls::head(3), calls::head(5), wrong(1), wrong(3), wrong(5)];
    assert_eq!(seen(&all), ["reply 10 200 ''", "failed 11 Protocol", "reply 12 200 ''"]);
}

#[test]
fn what_a_failed_call_says_is_its_own() {
    let (mut client, _) = asked([true, false, true]);
    let failed = |stream, says| headers(END, stream, &["grpc-status=5", says]);
    let bytes = [
        calls::head(1),
        failed(1, "grpc-message=mine"),
        calls::head(3),
        failed(3, "grpc-message=other"),
        calls::head(5),
        failed(5, "grpc-message=other"),
    ]
    .concat();
    let (mut rest, mut scratch, mut out) = (&bytes[..], Scratch::new(), Vec::new());
    let mut said = Vec::new();
    while !rest.is_empty() {
        let step = client.receive(rest, &mut scratch, &mut out).expect("replies");
        let is_reply = matches!(step.event, Some(Event::Reply(_)));
        rest = &rest[step.consumed..];
        if is_reply {
            said.push(client.said().to_vec());
        }
    }
    // A reply of HTTP says nothing, and what it says is not kept.
    assert_eq!(said, [&b"mine"[..], b"mine", b""]);
}
