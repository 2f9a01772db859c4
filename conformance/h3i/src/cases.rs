//! The cases: what is wrong, and what a server has to make of it.
//!
//! Knows the sections of RFC 9114 and RFC 9204. Must not know how it is sent.

use h3i::actions::h3::Action;

use crate::said::{
    CANCEL_PUSH, CONTROL, DATA, DECODER, ENCODER, ErrorCode, FIRST, GOAWAY, HEADERS, MAX_PUSH_ID,
    PUSH, PUSH_PROMISE, REQUEST, RESERVED, SECOND, SETTINGS, bytes, control, fields, frame, get,
    last, literal, numbers, open, request,
};

/// What a server has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// End the connection with this code.
    Closed(ErrorCode),
    /// End the stream with this code.
    Reset(ErrorCode),
    /// Answer the request: what is unknown is passed over.
    Answered,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) section: &'static str,
    pub(crate) what: &'static str,
    pub(crate) actions: Vec<Action>,
    pub(crate) wanted: Wanted,
}

/// All of them, for a server with this authority.
pub(crate) fn all(authority: &str) -> Vec<Case> {
    let mut cases = vec![Case {
        section: "9114 4.1",
        what: "a request that is right",
        actions: [&control()[..], &[request(authority)]].concat(),
        wanted: Wanted::Answered,
    }];
    cases.extend(messages(authority));
    cases.extend(of_fields(authority));
    cases.extend(frames_of_requests(authority));
    cases.extend(streams(authority));
    cases.extend(of_control(authority));
    cases.extend(compression(authority));
    cases
}

fn case(
    section: &'static str,
    what: &'static str,
    wanted: Wanted,
    actions: impl Into<Vec<Action>>,
) -> Case {
    Case { section, what, actions: actions.into(), wanted }
}

/// Messages that are not whole, or whose parts are not in order.
fn messages(authority: &str) -> Vec<Case> {
    let get = get(authority);
    let unexpected = Wanted::Closed(ErrorCode::FrameUnexpected);
    let malformed = Wanted::Reset(ErrorCode::MessageError);
    let mut sized = get.to_vec();
    sized[0] = (":method", "POST");
    sized.push(("content-length", "5"));
    vec![
        case("9114 4.1", "DATA before HEADERS", unexpected, [bytes(REQUEST, frame(DATA, b"a"))]),
        case(
            "9114 4.1",
            "DATA behind trailers",
            unexpected,
            [
                fields(&get, false),
                bytes(REQUEST, frame(DATA, b"a")),
                fields(&[("a", "b")], false),
                bytes(REQUEST, frame(DATA, b"a")),
            ],
        ),
        case(
            "9114 4.1",
            "HEADERS behind trailers",
            unexpected,
            [fields(&get, false), fields(&[("a", "b")], false), fields(&[("a", "b")], false)],
        ),
        case(
            "9114 4.1.1",
            "the end of a stream without a request",
            Wanted::Reset(ErrorCode::RequestIncomplete),
            [last(REQUEST, Vec::new())],
        ),
        case(
            "9114 4.1.2",
            "less content than Content-Length says",
            malformed,
            [fields(&sized, false), last(REQUEST, frame(DATA, b"four"))],
        ),
        case(
            "9114 4.1.2",
            "more content than Content-Length says",
            malformed,
            [fields(&sized, false), last(REQUEST, frame(DATA, b"six is"))],
        ),
        case(
            "9114 4.3",
            "a pseudo-header in trailers",
            malformed,
            [
                fields(&get, false),
                bytes(REQUEST, frame(DATA, b"a")),
                fields(&[(":path", "/")], true),
            ],
        ),
    ]
}

/// Fields that make a request malformed.
fn of_fields(authority: &str) -> Vec<Case> {
    let [method, scheme, host, path] = get(authority);
    let malformed = [
        ("9114 4.2", "Connection", vec![method, scheme, host, path, ("connection", "close")]),
        ("9114 4.2", "Keep-Alive", vec![method, scheme, host, path, ("keep-alive", "timeout=5")]),
        (
            "9114 4.2",
            "Transfer-Encoding",
            vec![method, scheme, host, path, ("transfer-encoding", "chunked")],
        ),
        ("9114 4.2", "Upgrade", vec![method, scheme, host, path, ("upgrade", "h2c")]),
        ("9114 4.2", "TE that is not trailers", vec![method, scheme, host, path, ("te", "gzip")]),
        ("9114 4.2", "a line feed in a value", vec![method, scheme, host, path, ("a", "b\nc")]),
        (
            "9114 4.3",
            "a pseudo-header that there is not",
            vec![method, scheme, host, path, (":a", "b")],
        ),
        (
            "9114 4.3",
            "a pseudo-header of replies",
            vec![method, scheme, host, path, (":status", "200")],
        ),
        (
            "9114 4.3",
            "a pseudo-header behind a field",
            vec![method, scheme, host, ("a", "b"), path],
        ),
        ("9114 4.3.1", "no :method", vec![scheme, host, path]),
        ("9114 4.3.1", "no :scheme", vec![method, host, path]),
        ("9114 4.3.1", "no :path", vec![method, scheme, host]),
        ("9114 4.3.1", "an empty :path", vec![method, scheme, host, (":path", "")]),
        ("9114 4.3.1", ":path twice", vec![method, scheme, host, path, path]),
        ("9114 4.3.1", ":method twice", vec![method, method, scheme, host, path]),
        ("9114 4.3.1", "no authority", vec![method, scheme, path]),
    ];
    let wanted = Wanted::Reset(ErrorCode::MessageError);
    // h3i's encoder writes names in lower case.
    let upper_case = last(REQUEST, frame(HEADERS, &literal(authority, "X-A", "b")));
    let mut cases = vec![case("9114 4.2", "an upper-case name", wanted, [upper_case])];
    cases.extend(
        malformed
            .into_iter()
            .map(|(section, what, list)| case(section, what, wanted, [fields(&list, true)])),
    );
    cases
}

/// Frames that have no place on the stream of a request, or are wrong in themselves.
fn frames_of_requests(authority: &str) -> Vec<Case> {
    let unexpected = Wanted::Closed(ErrorCode::FrameUnexpected);
    let misplaced: [(&'static str, &'static str, Vec<u8>); 6] = [
        ("9114 7.2.3", "CANCEL_PUSH on a request", frame(CANCEL_PUSH, &[0])),
        ("9114 7.2.4", "SETTINGS on a request", frame(SETTINGS, &[])),
        ("9114 7.2.5", "PUSH_PROMISE from a client", frame(PUSH_PROMISE, &[0, 0, 0])),
        ("9114 7.2.6", "GOAWAY on a request", frame(GOAWAY, &[0])),
        ("9114 7.2.7", "MAX_PUSH_ID on a request", frame(MAX_PUSH_ID, &[0])),
        ("9114 7.2.8", "a frame of HTTP/2 (0x02)", frame(0x02, &[0; 5])),
    ];
    let mut cases: Vec<Case> = misplaced
        .into_iter()
        .map(|(section, what, wrong)| {
            case(section, what, unexpected, [fields(&get(authority), false), bytes(REQUEST, wrong)])
        })
        .collect();
    cases.push(case(
        "9114 7.1",
        "a frame that is cut by the end of its stream",
        Wanted::Closed(ErrorCode::FrameError),
        [last(REQUEST, numbers(&[HEADERS, 20, 0, 0]))],
    ));
    cases.push(case(
        "9114 9",
        "a frame that nobody knows, before the request",
        Wanted::Answered,
        [bytes(REQUEST, frame(0x21, b"grease")), request(authority)],
    ));
    cases
}

/// Streams in one direction.
fn streams(authority: &str) -> Vec<Case> {
    let creation = Wanted::Closed(ErrorCode::StreamCreationError);
    let [opened, settings] = control();
    let twice = |kind| [open(FIRST, kind), open(SECOND, kind)];
    vec![
        case(
            "9114 6.2",
            "a stream of a kind that nobody knows",
            Wanted::Answered,
            [open(FIRST, RESERVED), bytes(FIRST, b"anything".to_vec()), request(authority)],
        ),
        case(
            "9114 6.2.1",
            "two streams of control",
            creation,
            [opened, settings, open(SECOND, CONTROL), bytes(SECOND, frame(SETTINGS, &[]))],
        ),
        case(
            "9114 6.2.2",
            "a stream of a push from a client",
            creation,
            [open(FIRST, PUSH), bytes(FIRST, vec![0])],
        ),
        case("9204 4.2", "two streams of an encoder", creation, twice(ENCODER)),
        case("9204 4.2", "two streams of a decoder", creation, twice(DECODER)),
    ]
}

/// What is said on the stream of control.
fn of_control(authority: &str) -> Vec<Case> {
    let said = |section, what, code, frames: Vec<u8>| {
        case(section, what, Wanted::Closed(code), [open(FIRST, CONTROL), bytes(FIRST, frames)])
    };
    let behind = |section, what, code, frames: &[Vec<u8>]| {
        said(section, what, code, [vec![frame(SETTINGS, &[])], frames.to_vec()].concat().concat())
    };
    vec![
        said("9114 6.2.1", "no SETTINGS first", ErrorCode::MissingSettings, frame(GOAWAY, &[0])),
        case(
            "9114 6.2.1",
            "the end of the stream of control",
            Wanted::Closed(ErrorCode::ClosedCriticalStream),
            [open(FIRST, CONTROL), last(FIRST, frame(SETTINGS, &[]))],
        ),
        behind("9114 7.2.1", "DATA", ErrorCode::FrameUnexpected, &[frame(DATA, b"a")]),
        behind("9114 7.2.2", "HEADERS", ErrorCode::FrameUnexpected, &[frame(HEADERS, &[0, 0])]),
        behind("9114 7.2.4", "SETTINGS again", ErrorCode::FrameUnexpected, &[frame(SETTINGS, &[])]),
        said(
            "9114 7.2.4",
            "a setting twice",
            ErrorCode::SettingsError,
            frame(SETTINGS, &numbers(&[0x06, 1000, 0x06, 2000])),
        ),
        said(
            "9114 7.2.4.1",
            "a setting of HTTP/2 (0x02)",
            ErrorCode::SettingsError,
            frame(SETTINGS, &numbers(&[0x02, 1])),
        ),
        said("9114 7.1", "a setting that is cut", ErrorCode::FrameError, frame(SETTINGS, &[0x06])),
        behind(
            "9114 7.2.8",
            "a frame of HTTP/2 (0x06)",
            ErrorCode::FrameUnexpected,
            &[frame(0x06, &[0; 8])],
        ),
        behind(
            "9114 7.2.7",
            "MAX_PUSH_ID that falls",
            ErrorCode::IdError,
            &[frame(MAX_PUSH_ID, &[9]), frame(MAX_PUSH_ID, &[5])],
        ),
        // Under way, so that the first does not end the connection.
        case(
            "9114 7.2.6",
            "GOAWAY that grows",
            Wanted::Closed(ErrorCode::IdError),
            [
                fields(&get(authority), false),
                open(FIRST, CONTROL),
                bytes(
                    FIRST,
                    [frame(SETTINGS, &[]), frame(GOAWAY, &[1]), frame(GOAWAY, &[2])].concat(),
                ),
            ],
        ),
        behind(
            "9114 7.2.3",
            "CANCEL_PUSH of what was not promised",
            ErrorCode::IdError,
            &[frame(CANCEL_PUSH, &[3])],
        ),
        behind(
            "9114 7.1",
            "GOAWAY with more than a number",
            ErrorCode::FrameError,
            &[frame(GOAWAY, &[1, 1])],
        ),
    ]
}

/// Compressed fields, and the streams of both tables.
fn compression(authority: &str) -> Vec<Case> {
    let failed = Wanted::Closed(ErrorCode::DecompressionFailed);
    let on = |section, what, kind, code, said: Vec<u8>| {
        let actions = [open(FIRST, kind), bytes(FIRST, said), request(authority)];
        case(section, what, Wanted::Closed(code), actions)
    };
    vec![
        case("9204 3.1", "an entry that the static table does not have", failed, {
            // An indexed field with the number 99 (section 4.5.2): 63 and 36 more.
            [last(REQUEST, frame(HEADERS, &[0, 0, 0xff, 36]))]
        }),
        case("9204 2.2.3", "an entry that was never inserted", failed, {
            // One entry is needed, its base is none, and it is the first behind that (section 4.5.3).
            [last(REQUEST, frame(HEADERS, &[2, 0, 0x10]))]
        }),
        on(
            "9204 4.1.3",
            "a table that is larger than was allowed",
            ENCODER,
            ErrorCode::EncoderStreamError,
            {
                // A capacity of 2^20 (section 4.3.1): 31 and the rest.
                vec![0x3f, 0xe1, 0xff, 0x3f]
            },
        ),
        on(
            "9204 4.3.4",
            "an entry is doubled that there is not",
            ENCODER,
            ErrorCode::EncoderStreamError,
            vec![0x00],
        ),
        on(
            "9204 4.4.3",
            "an insert count that grows by nothing",
            DECODER,
            ErrorCode::DecoderStreamError,
            vec![0x00],
        ),
        on(
            "9204 4.4.1",
            "fields are acknowledged that nobody sent",
            DECODER,
            ErrorCode::DecoderStreamError,
            vec![0x84],
        ),
        case(
            "9204 4.2",
            "the end of the encoder's stream",
            Wanted::Closed(ErrorCode::ClosedCriticalStream),
            [open(FIRST, ENCODER), last(FIRST, vec![0x20])],
        ),
    ]
}
