//! Exchanges as chance has them, and what must come of each.
//!
//! Knows what is said. Must not know who says it, nor how.

use fastrand::Rng;
use h2::Reason;
use http::{HeaderMap, HeaderName, HeaderValue};
use wiretrial_proto::http2::{ErrorCode, Http2Limits};

use crate::line::Pace;

/// Names and values.
pub(crate) type Fields = Vec<(String, Vec<u8>)>;

/// A request and its answer.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) method: &'static str,
    pub(crate) fields: Fields,
    pub(crate) content: Vec<u8>,
    /// Behind the content; only where h2 asks.
    pub(crate) trailers: Fields,
    pub(crate) status: u16,
    /// An interim head goes first; only where h2 answers.
    pub(crate) is_hinted: bool,
    pub(crate) answer: Fields,
    pub(crate) answer_content: Vec<u8>,
    pub(crate) answer_trailers: Fields,
    pub(crate) fate: Fate,
}

/// How it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    /// Answered, though not all of the request has come.
    Early,
    /// Reset by who should answer, before any of the answer or inside it.
    Reset {
        code: Reason,
        is_inside: bool,
    },
    /// Taken back by who asked, so many turns after it began.
    TakenBack {
        after: usize,
    },
}

impl Exchange {
    /// Nothing follows the head of the request.
    pub(crate) fn is_bare(&self) -> bool {
        self.content.is_empty() && self.trailers.is_empty()
    }

    /// Who asks may not send all of it: it takes it back, or has its answer before.
    pub(crate) const fn may_break_off(&self) -> bool {
        matches!(self.fate, Fate::TakenBack { .. } | Fate::Early)
    }
}

/// As either side names them.
const CODES: [(Reason, ErrorCode); 6] = [
    (Reason::CANCEL, ErrorCode::Cancel),
    (Reason::INTERNAL_ERROR, ErrorCode::InternalError),
    (Reason::NO_ERROR, ErrorCode::NoError),
    (Reason::ENHANCE_YOUR_CALM, ErrorCode::EnhanceYourCalm),
    (Reason::REFUSED_STREAM, ErrorCode::RefusedStream),
    (Reason::HTTP_1_1_REQUIRED, ErrorCode::Http11Required),
];

/// A code of h2's as ours.
pub(crate) fn ours(code: Reason) -> ErrorCode {
    let found = CODES.iter().find(|(theirs, _)| *theirs == code);
    found.expect("one of those that are drawn").1
}

/// The longest content, bytes.
const fn longest(pace: Pace) -> usize {
    match pace {
        Pace::Bytes => 300,
        Pace::Few => 4_000,
        Pace::Any | Pace::All => 150_000,
    }
}

/// A window of a stream: the longest content goes through the narrowest in thirty pieces.
pub(crate) fn window(pace: Pace, rng: &mut Rng) -> u32 {
    let narrowest = longest(pace) as u32 / 30;
    [narrowest, narrowest * 3, 65_535, 1 << 20][rng.usize(..4)]
}

/// The exchanges of one connection. Content is short where bytes go one at a time.
pub(crate) fn exchanges(pace: Pace, asks_with_trailers: bool, rng: &mut Rng) -> Vec<Exchange> {
    let longest = longest(pace);
    (0..rng.usize(1..20)).map(|_| exchange(longest, asks_with_trailers, rng)).collect()
}

fn exchange(longest: usize, asks_with_trailers: bool, rng: &mut Rng) -> Exchange {
    let method = ["GET", "POST", "PUT", "DELETE", "HEAD"][rng.usize(..5)];
    let has_content = matches!(method, "POST" | "PUT");
    let status = [200, 200, 200, 201, 204, 304, 404, 500, 599][rng.usize(..9)];
    let has_answer = method != "HEAD" && !matches!(status, 204 | 304);
    let has_trailers = has_content && asks_with_trailers && rng.usize(..4) == 0;
    let fate = match rng.usize(..12) {
        0 | 1 => Fate::Reset { code: CODES[rng.usize(..6)].0, is_inside: rng.bool() },
        2 => Fate::TakenBack { after: rng.usize(..400) },
        3 => Fate::Early,
        _ => Fate::Answered,
    };
    Exchange {
        method,
        fields: fields(false, rng),
        content: if has_content { content(longest, rng) } else { Vec::new() },
        trailers: if has_trailers { trailers(rng) } else { Vec::new() },
        status,
        is_hinted: rng.usize(..6) == 0,
        answer: fields(true, rng),
        answer_content: if has_answer { content(longest, rng) } else { Vec::new() },
        answer_trailers: if has_answer && rng.usize(..3) == 0 { trailers(rng) } else { Vec::new() },
        fate,
    }
}

fn content(longest: usize, rng: &mut Rng) -> Vec<u8> {
    let most = [0, 1, 20, 500, longest][rng.usize(..5)];
    let length = rng.usize(..=most);
    let mut bytes = vec![0; length];
    rng.fill(&mut bytes);
    bytes
}

/// Some that repeat from exchange to exchange, which an encoder indexes, and some that never do.
fn fields(takes_any_byte: bool, rng: &mut Rng) -> Fields {
    let mut made = Vec::new();
    for (name, value) in
        [("user-agent", "peer/1.0"), ("accept", "*/*"), ("authorization", "Bearer of-no-use")]
    {
        if rng.bool() {
            made.push((name.to_owned(), value.into()));
        }
    }
    for place in 0..rng.usize(..4) {
        let name =
            ["x-trace".to_owned(), "y".repeat(90), format!("x-{place}")][rng.usize(..3)].clone();
        let length = [0, 1, 10, 100, 3_000][rng.usize(..5)];
        let value = (0..length).map(|at| match rng.usize(..20) {
            // A value neither begins nor ends with white space.
            0 if at > 0 && at + 1 < length => b' ',
            1 if takes_any_byte => 0xe4,
            _ => rng.u8(b'!'..=b'~'),
        });
        made.push((name, value.collect()));
    }
    made
}

fn trailers(rng: &mut Rng) -> Fields {
    let mut made = vec![("grpc-status".to_owned(), b"0".to_vec())];
    made.extend(
        (0..rng.usize(..3)).map(|place| (format!("t-{place}"), vec![b'x'; rng.usize(..200)])),
    );
    made
}

/// What our side allows.
pub(crate) fn limits(pace: Pace, rng: &mut Rng) -> Http2Limits {
    Http2Limits {
        stream_window: window(pace, rng),
        connection_window: [65_535, 65_536, 200_000, 1 << 20][rng.usize(..4)],
        max_frame: [16_384, 16_385, 100_000][rng.usize(..3)],
        header_table_size: [0, 50, 4_096, 65_536][rng.usize(..4)],
        max_streams: rng.u32(1..20),
        ..Http2Limits::default()
    }
}

/// As h2 takes them.
pub(crate) fn map(fields: &Fields) -> HeaderMap {
    let made = fields.iter().map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
        (name, HeaderValue::from_bytes(value).expect("a value"))
    });
    let mut map = HeaderMap::new();
    for (name, value) in made {
        map.append(name, value);
    }
    map
}

/// As they can be compared: those of one name in their order, names in that of the alphabet.
pub(crate) fn sorted<'a>(fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Fields {
    let text = |name: &[u8]| String::from_utf8(name.to_vec()).expect("a name");
    let mut made: Fields = fields.map(|(name, value)| (text(name), value.to_vec())).collect();
    made.sort_by(|one, other| one.0.cmp(&other.0));
    made
}

/// The same of what h2 tells.
pub(crate) fn sorted_map(map: &HeaderMap) -> Fields {
    sorted(map.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes())))
}

/// The same of what was drawn.
pub(crate) fn sorted_fields(fields: &Fields) -> Fields {
    sorted(fields.iter().map(|(name, value)| (name.as_bytes(), value.as_slice())))
}
