//! What a client puts into its peer's table of fields (RFC 7541 section 2.3.2, RFC 9204 section 3.2), and refers to
//! afterwards.
//!
//! Knows which fields are worth it, as browsers see it. Must not know how a field is written, nor when a request is
//! sent.

use crate::packed::{Secrecy, cost};

/// How the fields of a request are encoded, one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeping {
    /// What the table may hold, bytes.
    most: usize,
    /// Has the table that never changes this field, name and value?
    is_static: fn(&[u8], &[u8]) -> bool,
    /// What is left of `most`.
    room: usize,
    stage: Stage,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// They are put into the table; so many are there.
    Puts(usize),
    /// The table has them; so many came into it after the next one and with it.
    Has(usize),
}

/// How one field is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It says what it is.
    Whole,
    /// It is put into the table.
    Put,
    /// The table has it; so many came into it after that one.
    Index(usize),
}

impl Keeping {
    /// As the first request of a connection, whose peer's table may hold so many bytes.
    pub(crate) fn first(most: usize, is_static: fn(&[u8], &[u8]) -> bool) -> Self {
        Self { most, is_static, room: most, stage: Stage::Puts(0) }
    }

    /// As each one after it, when all of its fields were encoded so.
    pub(crate) fn again(self) -> Self {
        let (Stage::Puts(count) | Stage::Has(count)) = self.stage;
        Self { room: self.most, stage: Stage::Has(count), ..self }
    }

    /// How many fields are in the table, or are still to come.
    pub(crate) fn count(&self) -> usize {
        let (Stage::Puts(count) | Stage::Has(count)) = self.stage;
        count
    }

    /// What they take of it, bytes.
    pub(crate) fn taken(&self) -> usize {
        self.most - self.room
    }

    /// How the next field is encoded.
    pub(crate) fn way(&mut self, name: &[u8], value: &[u8], secrecy: Secrecy) -> Way {
        let size = cost(name, value);
        if size > self.room || !self.is_worth_it(name, value, secrecy) {
            return Way::Whole;
        }
        self.room -= size;
        match &mut self.stage {
            Stage::Puts(count) => {
                *count += 1;
                Way::Put
            }
            Stage::Has(left) => {
                *left -= 1;
                Way::Index(*left)
            }
        }
    }

    /// Credentials are not put into a table. A cookie is, as in browsers: it is the longest of what comes again. Of what
    /// stands before the fields, only the server's name is the same for all that a browser asks of it.
    fn is_worth_it(&self, name: &[u8], value: &[u8], secrecy: Secrecy) -> bool {
        let is_pseudo = name.starts_with(b":") && name != b":authority";
        let is_secret = secrecy == Secrecy::Never && name != b"cookie";
        !is_pseudo && !is_secret && !(self.is_static)(name, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::OVERHEAD;

    fn is_static(name: &[u8], value: &[u8]) -> bool {
        (name, value) == (b"accept-encoding", b"gzip, deflate")
    }

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
        let (first, after) = ways(Keeping::first(4096, is_static));
        let whole = Way::Whole;
        assert_eq!(first, [whole, Way::Put, whole, whole, Way::Put, whole]);
        let taken = ":authority".len() + 1 + "cookie".len() + "theme=dark".len() + 2 * OVERHEAD;
        assert_eq!((after.count(), after.taken()), (2, taken));
        let (again, _) = ways(after.again());
        assert_eq!(again, [whole, Way::Index(1), whole, whole, Way::Index(0), whole]);
        assert_eq!(ways(Keeping::first(0, is_static)).0, [whole; 6]);
    }

    #[test]
    fn what_finds_no_room_says_what_it_is_and_shorter_ones_are_kept() {
        let (long, short) = (vec![b'x'; 4096], b"y");
        let mut keeping = Keeping::first(4096, is_static);
        assert_eq!(keeping.way(b"a", short, Secrecy::Plain), Way::Put);
        assert_eq!(keeping.way(b"b", &long, Secrecy::Plain), Way::Whole);
        assert_eq!(keeping.way(b"c", short, Secrecy::Plain), Way::Put);
        let mut again = keeping.again();
        assert_eq!(again.way(b"a", short, Secrecy::Plain), Way::Index(1));
        assert_eq!(again.way(b"b", &long, Secrecy::Plain), Way::Whole);
        assert_eq!(again.way(b"c", short, Secrecy::Plain), Way::Index(0));
    }
}
