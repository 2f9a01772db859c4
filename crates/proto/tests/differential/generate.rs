//! Draws messages that are nearly right: a grammar with wrong words in it, and mutations.
//!
//! Knows bytes; must not know who reads them.

use fastrand::Rng;

/// A seeded source of input.
pub(crate) struct Draw(Rng);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.0.usize(..words.len())]
    }

    fn chance(&mut self, share: f64) -> bool {
        self.0.f64() < share
    }

    fn some(&mut self, most: usize, mut word: impl FnMut(&mut Self) -> String) -> String {
        (0..self.0.usize(..=most)).map(|_| word(self)).collect()
    }
}

const LINE_ENDS: &[&str] = &["\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r"];
const METHODS: &[&str] =
    &["GET", "GET", "HEAD", "POST", "POST", "PUT", "OPTIONS", "CONNECT", "get", "M-S!", "G(", ""];
const TARGETS: &[&str] = &[
    "/",
    "/",
    "/a?b=c",
    "*",
    "http://h/a",
    "http://h",
    "http:///a",
    "http://u@h/",
    "h:80",
    "h",
    "/\u{e9}",
    "/a#b",
    "/a\"b",
    "/{|}",
    "//h",
    "/%zz",
    "",
    "/a b",
];
const VERSIONS: &[&str] = &[
    "HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/1.0",
    "HTTP/1.2",
    "HTTP/2.0",
    "http/1.1",
    "HTTP/1.",
    "HTTP/1.10",
];
const HOSTS: &[&str] = &[
    "h",
    "h",
    "h:80",
    "",
    "[::1]:80",
    "127.0.0.1",
    "a b",
    "h:x",
    "u@h",
    "[::1",
    "a%41",
    "a%4",
    "h/a",
    "a_b",
    "h,h",
];
const LENGTHS: &[&str] = &[
    "0",
    "1",
    "2",
    "5",
    "5, 5",
    "05",
    "+5",
    "-1",
    "",
    "x",
    "5,6",
    "5,",
    "18446744073709551615",
    "18446744073709551616",
    "0x5",
    "5 5",
];
const CODINGS: &[&str] = &[
    "chunked",
    "chunked",
    "chunked",
    "Chunked",
    "gzip, chunked",
    "gzip",
    "chunked, gzip",
    ",chunked",
    "chunked, chunked",
    "",
    "chunked;a=b",
    "x chunked",
    "identity",
];
const CONNECTIONS: &[&str] =
    &["close", "keep-alive", "Keep-Alive, x", "x", "", ", close ,", "close, keep-alive", "closed"];
const SIZES: &[&str] = &[
    "0",
    "1",
    "2",
    "5",
    "a",
    "A",
    "00",
    "05",
    "5;a=b",
    "5 ;a",
    "5 ",
    " 5",
    "5;a=\"b;c\"",
    "x",
    "",
    "0x5",
    "-5",
    "ffffffffffffffff",
    "10000000000000000",
    "5\t;b",
    "5;\u{1}",
];
const BODIES: &[&str] = &["", "a", "ab", "hello", "hello", "hello, world", "\r\n", "0\r\n\r\n"];
const STATUSES: &[&str] = &[
    "200", "200", "200", "404", "204", "304", "100", "103", "101", "500", "599", "600", "099",
    "20", "2000", "2x0",
];
const REASONS: &[&str] = &[" OK", " OK", " ", "", " \u{e9}", " a\tb", "\t", "  x"];

/// A request, more or less.
pub(crate) fn request(draw: &mut Draw) -> Vec<u8> {
    let before = if draw.chance(0.05) { draw.one(&["\r\n", "\r\n\r\n", "\n", " "]) } else { "" };
    let usual = draw.chance(0.7);
    let (method, target, version) = if usual {
        (draw.one(&["GET", "POST"]), "/", "HTTP/1.1")
    } else {
        (draw.one(METHODS), draw.one(TARGETS), draw.one(VERSIONS))
    };
    let host = if draw.chance(0.9) {
        let value = if draw.chance(0.8) { "h" } else { draw.one(HOSTS) };
        format!("Host: {value}\r\n")
    } else {
        String::new()
    };
    let line = format!("{before}{method} {target} {version}\r\n");
    finish(draw, &format!("{line}{host}"))
}

/// A response, more or less, to a GET.
pub(crate) fn response(draw: &mut Draw) -> Vec<u8> {
    let line = |draw: &mut Draw| {
        let usual = draw.chance(0.6);
        let version = if usual { "HTTP/1.1" } else { draw.one(VERSIONS) };
        format!("{version} {}{}\r\n", draw.one(STATUSES), draw.one(REASONS))
    };
    let interim = draw.some(1, |_| "HTTP/1.1 100 Continue\r\nA: b\r\n\r\n".to_owned());
    let line = line(draw);
    finish(draw, &format!("{interim}{line}"))
}

/// Fields, the end of the head, a body; then maybe damage.
fn finish(draw: &mut Draw, start: &str) -> Vec<u8> {
    let fields = draw.some(4, field);
    let end = if draw.chance(0.95) { "\r\n" } else { draw.one(LINE_ENDS) };
    let body = if draw.chance(0.5) { draw.one(BODIES).to_owned() } else { chunks(draw) };
    let mut bytes = format!("{start}{fields}{end}{body}").into_bytes();
    damage(draw, &mut bytes);
    bytes
}

fn field(draw: &mut Draw) -> String {
    let (name, value) = match draw.0.u8(..8) {
        0 | 1 => ("Content-Length", draw.one(LENGTHS)),
        2 | 3 => ("Transfer-Encoding", draw.one(CODINGS)),
        4 => ("Connection", draw.one(CONNECTIONS)),
        5 => (draw.one(&["A", "B-c", "Ho st", "", "A(", "Host", "\u{e9}"]), "x"),
        _ => ("X", draw.one(&["", "y", "\t y \t", "\u{e9}", "y\r\n z", "y\r\n", "a\u{7f}b", "\0"])),
    };
    let colon = if draw.chance(0.95) { ": " } else { draw.one(&[":", " :", ":\t", "", "\t: "]) };
    let end = if draw.chance(0.97) { "\r\n" } else { draw.one(LINE_ENDS) };
    format!("{name}{colon}{value}{end}")
}

fn chunks(draw: &mut Draw) -> String {
    let chunk = |draw: &mut Draw| {
        if draw.chance(0.7) {
            return "5\r\nhello\r\n".to_owned();
        }
        format!("{}\r\n{}\r\n", draw.one(SIZES), draw.one(BODIES))
    };
    let chunks = draw.some(3, chunk);
    let trailers = draw.some(1, field);
    let last = if draw.chance(0.8) { "0" } else { draw.one(SIZES) };
    format!("{chunks}{last}\r\n{trailers}\r\n")
}

/// Frames that a server may send, more or less.
pub(crate) fn server_frames(draw: &mut Draw) -> Vec<u8> {
    frames(draw, None)
}

/// Frames that a client may send, more or less.
pub(crate) fn client_frames(draw: &mut Draw) -> Vec<u8> {
    frames(draw, Some([0x9d, 0x00, 0xff, 0x42]))
}

fn frames(draw: &mut Draw, mask: Option<[u8; 4]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut inside = false;
    for _ in 0..=draw.0.usize(..6) {
        let control = draw.chance(0.3);
        let usual = draw.chance(0.9);
        let last = draw.chance(0.6);
        let first = match (usual, control) {
            (true, true) => 0x80 | [0x8, 0x9, 0xa, 0x9][draw.0.usize(..4)],
            (true, false) => {
                let opcode = if inside { 0 } else { draw.0.u8(1..=2) };
                inside = !last;
                opcode | if last { 0x80 } else { 0 }
            }
            (false, _) => draw.0.u8(..),
        };
        let payload = payload(draw, first & 0xf);
        frame(draw, first, &payload, mask, &mut bytes);
    }
    if draw.chance(0.3) {
        damage(draw, &mut bytes);
    }
    bytes
}

fn payload(draw: &mut Draw, opcode: u8) -> Vec<u8> {
    if opcode == 8 && draw.chance(0.9) {
        let code = draw.one(&["", "1000", "1001", "1005", "1011", "1015", "2999", "3000", "4999"]);
        let code = code.parse::<u16>().map_or(Vec::new(), |code| code.to_be_bytes().to_vec());
        let reason = if code.is_empty() { "" } else { draw.one(&["", "why", "\u{e9}"]) };
        return [&code, reason.as_bytes()].concat();
    }
    let texts: [&[u8]; 9] = [
        b"",
        b"hello",
        "h\u{e9}llo \u{1f600}".as_bytes(),
        b"\xc3",
        b"\xa9",
        b"\xf0\x9f",
        b"\x98\x80",
        b"\xed\xa0\x80",
        b"\xff",
    ];
    let text = texts[if draw.chance(0.7) { draw.0.usize(..3) } else { draw.0.usize(..9) }];
    if draw.chance(0.1) { text.repeat(draw.0.usize(..400)) } else { text.to_vec() }
}

fn frame(draw: &mut Draw, first: u8, payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    // Now and then one that is masked by the wrong side, or not by the right one.
    let mask = if draw.chance(0.01) { mask.map_or(Some([1, 2, 3, 4]), |_| None) } else { mask };
    out.push(first);
    let bit = if mask.is_some() { 0x80 } else { 0 };
    match (payload.len(), draw.chance(0.02)) {
        (length @ 0..126, false) => out.push(bit | length as u8),
        (length @ ..0x1_0000, false) => {
            out.push(bit | 0x7e);
            out.extend((length as u16).to_be_bytes());
        }
        (length, _) => {
            out.push(bit | 0x7f);
            out.extend((length as u64).to_be_bytes());
        }
    }
    let mask = mask.map(|mask| out.extend(mask)).map_or([0; 4], |()| mask.unwrap_or_default());
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
}

/// An upgrade request, more or less.
pub(crate) fn upgrade(draw: &mut Draw) -> Vec<u8> {
    let mut lines = vec![
        ("Host", draw.one(&["h", "h", "h:80", "h", ""])),
        (
            "Connection",
            draw.one(&["Upgrade", "upgrade", "keep-alive, Upgrade", "close", "Upgrade"]),
        ),
        ("Upgrade", draw.one(&["websocket", "WebSocket", "websocket", "h2c", "h2c, websocket"])),
        ("Sec-WebSocket-Version", draw.one(&["13", "13", "13", "8", "13, 8", "013"])),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    if draw.chance(0.3) {
        lines.remove(draw.0.usize(..lines.len()));
    }
    draw.0.shuffle(&mut lines);
    let fields: Vec<String> =
        lines.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let fields = fields.join("\r\n");
    let method = if draw.chance(0.9) { "GET" } else { draw.one(&["POST", "get"]) };
    let version = if draw.chance(0.9) { "HTTP/1.1" } else { draw.one(VERSIONS) };
    format!("{method} /a {version}\r\n{fields}\r\n\r\n").into_bytes()
}

/// Mostly nothing; else a few bytes changed, lost, doubled, put in or cut off.
fn damage(draw: &mut Draw, bytes: &mut Vec<u8>) {
    if draw.chance(0.5) {
        return;
    }
    for _ in 0..draw.0.usize(..4) {
        if bytes.is_empty() {
            return;
        }
        let at = draw.0.usize(..bytes.len());
        let to = (at + draw.0.usize(..6)).min(bytes.len());
        match draw.0.u8(..6) {
            0 => bytes[at] = draw.0.u8(..),
            1 => bytes[at] = b"\r\n\t :;,\0\x7f\x80\x0b"[draw.0.usize(..11)],
            2 => drop(bytes.drain(at..to)),
            3 => bytes.extend_from_within(at..to),
            4 => bytes.insert(at, b"\r\n\t :;,\0\x7f\x80\x0b"[draw.0.usize(..11)]),
            _ => bytes.truncate(at),
        }
    }
}
