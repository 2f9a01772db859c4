//! The status of a call, and the text beside it.
//!
//! Knows numbers, names and how a text is written into a field; must not know who failed.

use std::fmt::{self, Write as _};

/// Names, in the order of their numbers.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The status of a call, or, from 100 on, that of HTTP where the reply had no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Status(pub u16);

impl Status {
    /// The call has succeeded.
    pub const OK: Self = Self(0);
    /// The client's deadline has passed.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// There is more of something than is taken.
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    /// There is no such method, or not with so many messages.
    pub const UNIMPLEMENTED: Self = Self(12);
    /// The server has failed.
    pub const INTERNAL: Self = Self(13);
    /// How many have names; their numbers are below.
    pub const NAMED: usize = NAMES.len();

    /// As it stands in its field: one or two digits. None: it is no such number.
    pub fn parse(value: &[u8]) -> Option<u16> {
        let digit = |byte: u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
        match *value {
            [one] => digit(one),
            [ten, one] => Some(10 * digit(ten)? + digit(one)?),
            _ => None,
        }
    }

    /// Its name; none where there is no such status.
    pub fn name(self) -> Option<&'static str> {
        NAMES.get(usize::from(self.0)).copied()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None if self.0 >= 100 => write!(f, "HTTP {}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A text as it goes into a field: what is no printable ASCII, and the percent sign, as `%` and two digits.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' | ..b' ' | 0x7f.. => {
                // Writing into a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
            plain => out.push(char::from(plain)),
        }
    }
    out
}

/// The text in a field. A percent sign that encodes nothing is kept, and bytes that are no UTF-8 become
/// U+FFFD: a text that is written wrongly must not hide the status beside it.
pub fn decoded(value: &[u8]) -> String {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [first, behind @ ..] = rest {
        let byte = match rest {
            [b'%', high, low, ..] => digit(high).zip(digit(low)).map(|(high, low)| 16 * high + low),
            _ => None,
        };
        bytes.push(byte.map_or(*first, |byte| byte as u8));
        rest = if byte.is_some() { &rest[3..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_statuses() {
        let cases: [(&str, Option<u16>); 9] = [
            ("0", Some(0)),
            ("5", Some(5)),
            ("16", Some(16)),
            ("99", Some(99)),
            ("", None),
            ("-1", None),
            ("100", None),
            ("1a", None),
            (" 1", None),
        ];
        for (text, number) in cases {
            assert_eq!(Status::parse(text.as_bytes()), number, "'{text}'");
        }
        let named = [0, 4, 5, 16, 17, 503].map(|number| Status(number).to_string());
        assert_eq!(
            named,
            ["OK", "DEADLINE_EXCEEDED", "NOT_FOUND", "UNAUTHENTICATED", "17", "HTTP 503"]
        );
    }

    #[test]
    fn table_of_texts() {
        let cases = [
            ("plain", "plain"),
            ("", ""),
            ("100 %", "100 %25"),
            ("no such user: Zoë\n", "no such user: Zo%C3%AB%0A"),
            ("\u{7f}", "%7F"),
        ];
        for (text, field) in cases {
            assert_eq!(encoded(text), field);
            assert_eq!(decoded(field.as_bytes()), text);
        }
        for (field, text) in
            [("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%e2%82%ac", "€"), ("%ff", "\u{fffd}")]
        {
            assert_eq!(decoded(field.as_bytes()), text);
        }
    }
}
