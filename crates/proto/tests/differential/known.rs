//! Differences that stand: each with the section that lets us do what we do.
#![allow(dead_code, reason = "each fuzz target uses its own part of this")]

/// One difference.
pub(crate) struct Known {
    pub(crate) section: &'static str,
    pub(crate) reason: &'static str,
    /// Input on which the two differ for this reason.
    pub(crate) example: &'static [u8],
    /// May this be why they differ?
    pub(crate) applies: fn(&[u8]) -> bool,
}

/// The server's codec against `httparse`, with the rules of `model.rs`.
pub(crate) const IN_REQUESTS: &[Known] = &[
    BARE_LINE_FEED_IN_REQUESTS,
    Known {
        section: "9112 2.2",
        reason: "a server should pass over at least one empty line; ours over just one",
        example: b"\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        applies: |input| input.starts_with(b"\r\n\r\n"),
    },
    Known {
        section: "9110 2.5",
        reason: "a later minor version is read as the highest known one; httparse knows two",
        example: b"GET / HTTP/1.2\r\nHost: h\r\n\r\n",
        applies: has_later_minor_version,
    },
    Known {
        section: "9110 5.5",
        reason: "control characters in a value may be kept where that is safe; ours keeps DEL",
        example: b"GET / HTTP/1.1\r\nHost: h\r\nX: \x7f\r\n\r\n",
        applies: has_delete,
    },
    Known {
        section: "9112 3.2",
        reason: "a Host that is none must be refused; the http crate takes any port and literal",
        example: b"GET / HTTP/1.1\r\nHost: h:x\r\n\r\n",
        applies: has_odd_host,
    },
    Known {
        section: "RFC 3986 3.2.2",
        reason: "a name may hold percent-encoded octets; the http crate takes none",
        example: b"GET / HTTP/1.1\r\nHost: a%41\r\n\r\n",
        applies: |input| hosts(input).any(|host| host.contains(&b'%')),
    },
    Known {
        section: "9112 3.2",
        reason: "a target is of ASCII; httparse and the http crate take UTF-8",
        example: "GET /\u{e9} HTTP/1.1\r\nHost: h\r\n\r\n".as_bytes(),
        applies: |input| !input.is_ascii(),
    },
    Known {
        section: "9112 3.2",
        reason: "a target that is no URI may be taken; ours takes all visible ASCII",
        example: b"GET /` HTTP/1.1\r\nHost: h\r\n\r\n",
        applies: has_odd_target,
    },
    Known {
        section: "RFC 3986 3.1",
        reason: "a scheme may be of any length; the http crate takes 64 characters",
        example: b"GET aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa://h \
            HTTP/1.1\r\nHost: h\r\n\r\n",
        applies: |input| input.windows(3).position(|it| it == b"://").is_some_and(|at| at > 64),
    },
    Known {
        section: "9112 7.1.1",
        reason: "an extension holds no control characters; httparse takes them",
        example: b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0;\x01\r\n\r\n",
        applies: has_control,
    },
    Known {
        section: "9112 7.1",
        reason: "behind a size stands nothing but an extension; httparse takes white space",
        example: b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0 \r\n\r\n",
        applies: has_space_behind_a_size,
    },
];

/// The client's codec against `httparse`, with the rules of `model.rs`.
pub(crate) const IN_RESPONSES: &[Known] = &[
    Known { example: b"HTTP/1.1 204 X\nX: y\r\n\r\n", ..BARE_LINE_FEED_IN_REQUESTS },
    Known {
        section: "9110 2.5",
        reason: "a later minor version is read as the highest known one; httparse knows two",
        example: b"HTTP/1.2 204 X\r\n\r\n",
        applies: has_later_minor_version,
    },
    Known {
        section: "9110 5.5",
        reason: "control characters in a value may be kept where that is safe; ours keeps DEL",
        example: b"HTTP/1.1 204 X\r\nX: \x7f\r\n\r\n",
        applies: has_delete,
    },
    Known {
        section: "9112 2.2",
        reason: "only a server passes over an empty line; httparse does before responses, too",
        example: b"\r\nHTTP/1.1 204 X\r\n\r\n",
        applies: |input| input.starts_with(b"\r\n") || has(input, b"\r\n\r\n\r\n"),
    },
    Known {
        section: "9112 5.2",
        reason: "a folded line is read in trailers, too; httparse knows it in heads only",
        example: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n c\r\n\r\n",
        applies: |input| has(input, b"\r\n ") || has(input, b"\r\n\t"),
    },
    Known {
        section: "9112 4",
        reason: "the space behind the status stands even without a reason; httparse waives it",
        example: b"HTTP/1.1 204\r\n\r\n",
        applies: |input| input.windows(6).any(|it| it[0] == b' ' && it[4..] == *b"\r\n"),
    },
    Known {
        section: "9112 7.1.1",
        reason: "an extension holds no control characters; httparse takes them",
        example: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0;\x01\r\n\r\n",
        applies: has_control,
    },
    Known {
        section: "9112 7.1",
        reason: "behind a size stands nothing but an extension; httparse takes white space",
        example: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0 \r\n\r\n",
        applies: has_space_behind_a_size,
    },
];

/// Who grants an upgrade, ours against `tungstenite`.
pub(crate) const IN_UPGRADES: &[Known] = &[
    Known {
        section: "RFC 6455 4.2.1",
        reason: "Upgrade is a list that must name websocket; tungstenite wants it alone",
        example: b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c, websocket\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        applies: |input| has(input, b"h2c, websocket"),
    },
    Known {
        section: "9112 3.2",
        reason: "a request without Host must be refused; tungstenite asks for none",
        example: b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        applies: |input| !has(input, b"Host:"),
    },
    Known {
        section: "9110 2.5",
        reason: "a later minor version is read as the highest known one; tungstenite knows two",
        example: b"GET / HTTP/1.2\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        applies: has_later_minor_version,
    },
];

/// Ours against `tungstenite`.
pub(crate) const IN_FRAMES: &[Known] = &[Known {
    section: "RFC 6455 5.2",
    reason: "a length must be in its shortest form; tungstenite takes any",
    example: b"\x82\x7f\0\0\0\0\0\0\0\x01x",
    applies: |input| any_frame(input, has_long_length),
}];

const BARE_LINE_FEED_IN_REQUESTS: Known = Known {
    section: "9112 2.2",
    reason: "a recipient may take LF alone for a line end; ours refuses it",
    example: b"GET / HTTP/1.1\nHost: h\r\n\r\n",
    applies: |input| {
        input.first() == Some(&b'\n') || input.windows(2).any(|it| it[1] == b'\n' && it[0] != b'\r')
    },
};

fn has_later_minor_version(input: &[u8]) -> bool {
    input.windows(8).any(|it| it.starts_with(b"HTTP/1.") && matches!(it[7], b'2'..=b'9'))
}

fn has(input: &[u8], part: &[u8]) -> bool {
    input.windows(part.len()).any(|it| it == part)
}

fn has_odd_target(input: &[u8]) -> bool {
    let line = input.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.iter().any(|byte| b"\"<>\\^`{|}[]%".contains(byte))
}

/// The values of fields of that name.
fn hosts(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let fields = input.split(|byte| *byte == b'\n');
    fields.filter_map(|line| {
        let (name, value) = line.split_at_checked(5)?;
        name.eq_ignore_ascii_case(b"host:").then_some(value.trim_ascii())
    })
}

fn has_odd_host(input: &[u8]) -> bool {
    hosts(input).any(|host| {
        let mut parts = host.rsplitn(2, |byte| *byte == b':');
        let port = parts.next().unwrap_or_default();
        let odd_port = parts.next().is_some() && !port.iter().all(u8::is_ascii_digit);
        odd_port || host.contains(&b'[')
    })
}

fn has_control(input: &[u8]) -> bool {
    input.iter().any(|byte| byte.is_ascii_control() && !b"\r\n\t".contains(byte))
}

fn has_space_behind_a_size(input: &[u8]) -> bool {
    let blank = |byte: u8| byte == b' ' || byte == b'\t';
    input.windows(3).any(|it| blank(it[0]) && it[1..] == *b"\r\n")
}

fn has_delete(input: &[u8]) -> bool {
    input.contains(&0x7f)
}

/// Is there such a frame, as far as frames can be told apart?
fn any_frame(mut input: &[u8], is_such: fn(&[u8]) -> bool) -> bool {
    while input.len() >= 2 {
        if is_such(input) {
            return true;
        }
        let (bytes, length) = match input[1] & 0x7f {
            126 => (2, number(input, 2)),
            127 => (8, number(input, 8)),
            short => (0, u64::from(short)),
        };
        let mask = if input[1] & 0x80 == 0 { 0 } else { 4 };
        let whole = length.saturating_add(2 + bytes + mask);
        input = input.get(usize::try_from(whole).unwrap_or(usize::MAX)..).unwrap_or_default();
    }
    false
}

fn has_long_length(frame: &[u8]) -> bool {
    match frame[1] & 0x7f {
        126 => number(frame, 2) < 126,
        127 => number(frame, 8) < 0x1_0000,
        _ => false,
    }
}

/// The number of so many bytes behind the first two; what is missing counts as zero.
fn number(frame: &[u8], bytes: usize) -> u64 {
    let byte = |at: usize| u64::from(frame.get(2 + at).copied().unwrap_or(0));
    (0..bytes).fold(0, |number, at| number << 8 | byte(at))
}
