//! The static table and the dynamic one (RFC 7541 section 2.3, appendix A).
//!
//! Knows entries by index, and what goes when room is needed; must not know who refers to them.

use super::HpackError;
use crate::packed::entries::Entries;
use crate::packed::{self, Place};

/// Entries 1 to 61 (RFC 7541 appendix A).
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// Where the static table has this field; its indices begin with 1.
pub(super) fn place(name: &[u8], value: &[u8]) -> Place {
    packed::place(&STATIC, 1, name, value)
}

/// Is this the index of an entry that the peer added?
pub(super) fn is_dynamic(index: usize) -> bool {
    index > STATIC.len()
}

/// Both tables of one direction.
#[derive(Debug)]
pub(super) struct DynamicTable {
    entries: Entries,
    /// How often it was changed.
    changes: u64,
}

impl DynamicTable {
    pub(super) fn new(most: usize) -> Self {
        Self { entries: Entries::new(most), changes: 0 }
    }

    /// How much it may hold, bytes.
    pub(super) fn most(&self) -> usize {
        self.entries.most()
    }

    /// How often it was changed: in between, an index means the same.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Changes how much it may hold; what no longer fits goes, the oldest first.
    pub(super) fn resize(&mut self, most: usize) {
        self.changes += 1;
        self.entries.resize(most);
    }

    /// Adds an entry; the oldest go for it. One that is larger than the table empties it, and is not
    /// an error (RFC 7541 section 4.4).
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        self.changes += 1;
        self.entries.add(name, value);
    }

    /// What its entries cost, bytes.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.entries.size()
    }

    /// Name and value of an index over both tables, from 1.
    pub(super) fn get(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        let place = index.checked_sub(1).ok_or(HpackError::Index)?;
        if let Some((name, value)) = STATIC.get(place) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        self.entries.get(place - STATIC.len()).ok_or(HpackError::Index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::{OVERHEAD, cost};

    #[test]
    fn both_tables_have_one_row_of_indices() {
        let mut table = DynamicTable::new(4096);
        assert_eq!(table.get(0), Err(HpackError::Index));
        assert_eq!(table.get(2), Ok((&b":method"[..], &b"GET"[..])));
        assert_eq!(table.get(61), Ok((&b"www-authenticate"[..], &b""[..])));
        assert_eq!(table.get(62), Err(HpackError::Index));
        table.add(b"old", b"1");
        table.add(b"newer", b"22");
        assert_eq!(table.get(62), Ok((&b"newer"[..], &b"22"[..])));
        assert_eq!(table.get(63), Ok((&b"old"[..], &b"1"[..])));
        assert_eq!(table.get(64), Err(HpackError::Index));
        assert_eq!(table.size(), 4 + 32 + 7 + 32);
    }

    #[test]
    fn an_entry_larger_than_the_table_empties_it() {
        let mut table = DynamicTable::new(OVERHEAD + 2);
        table.add(b"a", b"1");
        assert_eq!(table.get(62), Ok((&b"a"[..], &b"1"[..])));
        table.add(b"larger than", b"the table");
        assert_eq!((table.get(62), table.changes()), (Err(HpackError::Index), 2));
    }

    #[test]
    fn a_table_that_holds_nothing_else_stays_as_it_is() {
        let all = |table: &DynamicTable| {
            let found = (62..).map_while(|index| table.get(index).ok());
            found.map(|(name, value)| (name.to_vec(), value.to_vec())).collect::<Vec<_>>()
        };
        let fields = [&b"x"[..], b"a longer one", b"one that no small table has room for ......"];
        for most in 0..400 {
            for count in 1..=fields.len() {
                let mut table = DynamicTable::new(most);
                (0..9).for_each(|_| table.add(b"before", b"all of this"));
                let added: usize = fields[..count].iter().map(|value| cost(b"a", value)).sum();
                for _ in 0..most.div_ceil(added).max(1) {
                    fields[..count].iter().for_each(|value| table.add(b"a", value));
                }
                let before = all(&table);
                fields[..count].iter().for_each(|value| table.add(b"a", value));
                assert_eq!(before, all(&table), "{count} fields in {most} bytes");
            }
        }
    }

    #[test]
    fn a_field_is_found_whole_before_its_name_alone() {
        assert_eq!(place(b":method", b"POST"), Place::Whole(3));
        assert_eq!(place(b":method", b"PUT"), Place::Name(2));
        assert_eq!(place(b"cookie", b"a=b"), Place::Name(32));
        assert_eq!(place(b"x-own", b""), Place::None);
    }
}
