//! What a client puts into its peer's table of fields (RFC 7541 section 2.3.2), and refers to afterwards.
//!
//! Knows which fields are worth it, as browsers see it. Must not know how a field is written, nor when a request is
//! sent.

use super::hpack::{Secrecy, is_static};
use super::settings::Settings;
use crate::packed::OVERHEAD;

/// What the table of a connection's peer has of a request's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// Nothing yet: the next request puts its fields there.
    Empty,
    /// What a request before has put there.
    Filled,
    /// Nothing, for good: the peer allows less than what holds by itself.
    Unused,
}

/// How the fields of a request are encoded that are the same each time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Keeping {
    /// Each says what it is.
    #[default]
    Nothing,
    /// They are put into the table: so many are there, and there is `room` for so many bytes.
    Puts { count: usize, room: usize },
    /// The table has them; so many came into it after the next one and with it.
    Has { left: usize, room: usize },
}

/// How one field is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It says what it is.
    Whole,
    /// It is put into the table.
    Put,
    /// The table has it; so many came into it after that one.
    Index(usize),
}

impl Keeping {
    /// As the first request of a connection.
    pub(super) fn first() -> Self {
        Self::Puts { count: 0, room: room() }
    }

    /// As each one after it, when all of its fields were encoded so.
    pub(super) fn again(self) -> Self {
        match self {
            Self::Puts { count, .. } => Self::Has { left: count, room: room() },
            other => other,
        }
    }

    /// How the next field is encoded.
    pub(super) fn way(&mut self, name: &[u8], value: &[u8], secrecy: Secrecy) -> Way {
        let size = name.len() + value.len() + OVERHEAD;
        let is_kept = |room: usize| size <= room && is_worth_it(name, value, secrecy);
        match self {
            Self::Puts { count, room } if is_kept(*room) => {
                *room -= size;
                *count += 1;
                Way::Put
            }
            Self::Has { left, room } if is_kept(*room) => {
                *room -= size;
                *left -= 1;
                Way::Index(*left)
            }
            _ => Way::Whole,
        }
    }
}

/// What each peer's table holds unless it says less, bytes.
fn room() -> usize {
    Settings::default().header_table_size as usize
}

/// Credentials are not put into a table. A cookie is, as in browsers: it is the longest of what comes again. Of what
/// stands before the fields, only the server's name is the same for all that a browser asks of it.
fn is_worth_it(name: &[u8], value: &[u8], secrecy: Secrecy) -> bool {
    let is_pseudo = name.starts_with(b":") && name != b":authority";
    let is_secret = secrecy == Secrecy::Never && name != b"cookie";
    !is_pseudo && !is_secret && !is_static(name, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_there_is_found_by_its_age() {
        let fields: [(&str, &str, Secrecy); 6] = [
            (":method", "GET", Secrecy::Plain),
            (":authority", "h", Secrecy::Plain),
            (":path", "/a", Secrecy::Plain),
            ("authorization", "Bearer x", Secrecy::Never),
            ("cookie", "theme=dark", Secrecy::Never),
            ("accept-encoding", "gzip, deflate", Secrecy::Plain),
        ];
        let ways = |mut keeping: Keeping| {
            let way = |(name, value, secrecy): (&str, &str, _)| {
                keeping.way(name.as_bytes(), value.as_bytes(), secrecy)
            };
            let ways: Vec<_> = fields.map(way).into();
            (ways, keeping)
        };
        let (first, after) = ways(Keeping::first());
        let whole = Way::Whole;
        assert_eq!(first, [whole, Way::Put, whole, whole, Way::Put, whole]);
        let (again, _) = ways(after.again());
        assert_eq!(again, [whole, Way::Index(1), whole, whole, Way::Index(0), whole]);
        assert_eq!(ways(Keeping::Nothing).0, [whole; 6]);
    }

    #[test]
    fn what_finds_no_room_says_what_it_is_and_shorter_ones_are_kept() {
        let (long, short) = (vec![b'x'; 4096], b"y");
        let mut keeping = Keeping::first();
        assert_eq!(keeping.way(b"a", short, Secrecy::Plain), Way::Put);
        assert_eq!(keeping.way(b"b", &long, Secrecy::Plain), Way::Whole);
        assert_eq!(keeping.way(b"c", short, Secrecy::Plain), Way::Put);
        let mut again = keeping.again();
        assert_eq!(again.way(b"a", short, Secrecy::Plain), Way::Index(1));
        assert_eq!(again.way(b"b", &long, Secrecy::Plain), Way::Whole);
        assert_eq!(again.way(b"c", short, Secrecy::Plain), Way::Index(0));
    }
}
