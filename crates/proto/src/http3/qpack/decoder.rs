//! Blocks of fields, read (RFC 9204 section 4.5).
//!
//! Knows representations and the table that they refer to; must not know which fields are allowed.
//!
//! No block has to wait: we let none (`SETTINGS_QPACK_BLOCKED_STREAMS` is 0), so that one which refers
//! to what has not come breaks the rules.

mod inserting;

use super::QpackError;
use super::table::STATIC;
use crate::fields::FieldList;
use crate::packed::entries::Entries;
use crate::packed::{self, integer};

/// Two numbers of the table's size; no two entries that can be there have the same remainder by the
/// number of them (section 4.5.1.1).
const FULL: u64 = 2;

/// One direction of a connection: what the peer's encoder has put into our table, and what there is to be
/// said to it.
#[derive(Debug)]
pub struct QpackDecoder {
    /// How large the peer may make the table, bytes; 0: there is none.
    most: usize,
    entries: Entries,
    /// Entries that came, in all.
    inserted: u64,
    /// Instructions for the peer's encoder that have not gone.
    said: Vec<u8>,
    /// Where strings are read before they are fields.
    name: Vec<u8>,
    value: Vec<u8>,
}

/// Entries that a block refers to.
#[derive(Debug, Clone, Copy)]
struct Footing {
    /// It needs so many of those that came.
    required: u64,
    /// From here its indices count.
    base: u64,
}

/// Reads one whole block that needs no table, as [`QpackDecoder::read`].
///
/// # Errors
/// As there, and where it refers to a table.
pub fn read_fields(block: &[u8], most: usize, fields: &mut FieldList) -> Result<(), QpackError> {
    QpackDecoder::new(0).read(0, block, most, fields)
}

impl QpackDecoder {
    /// Of a new connection whose `SETTINGS_QPACK_MAX_TABLE_CAPACITY` is this.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            entries: Entries::new(0),
            inserted: 0,
            said: Vec::new(),
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Is there a table?
    pub fn has_table(&self) -> bool {
        self.most > 0
    }

    /// Instructions for the peer's encoder (section 4.4); who says them clears them.
    pub fn said(&mut self) -> &mut Vec<u8> {
        &mut self.said
    }

    /// Entries that came so far: in between, a block means the same.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Reads one whole block that came on a stream, and appends its fields. Their size, counted as
    /// `SETTINGS_MAX_FIELD_SECTION_SIZE` is (RFC 9114 section 4.2.2), may not be over `most`.
    ///
    /// # Errors
    /// The block breaks the rules, refers to entries that are not there, or is over the limit. What was
    /// read before that is in `fields`.
    pub fn read(
        &mut self,
        stream: u64,
        block: &[u8],
        most: usize,
        fields: &mut FieldList,
    ) -> Result<(), QpackError> {
        let mut room = most;
        let (footing, mut rest) = self.read_prefix(block)?;
        while let Some(&first) = rest.first() {
            if first >= 0x80 || first & 0xf0 == 0x10 {
                // An indexed field, before the base or behind it.
                let bits = if first >= 0x80 { 6 } else { 4 };
                let (index, taken) = integer::read(rest, bits)?;
                let (name, value) = match first {
                    0xc0.. => fixed(index)?,
                    0x80.. => self.before(footing, index)?,
                    _ => self.behind(footing, index)?,
                };
                rest = &rest[taken..];
                room = packed::left(room, name, value)?;
                fields.push(name, value);
                continue;
            }
            let mut name = std::mem::take(&mut self.name);
            let read = self.read_name(footing, rest, room, &mut name);
            self.name = name;
            self.value.clear();
            rest = packed::read_string(read?, 7, room, &mut self.value)?;
            room = packed::left(room, &self.name, &self.value)?;
            fields.push(&self.name, &self.value);
        }
        if footing.required > 0 {
            self.acknowledge(stream);
        }
        Ok(())
    }

    /// A block with this begin means what it meant when so many entries had come; where it refers to
    /// some, it counts as read. False: it may mean something else.
    #[inline]
    pub fn read_again(&mut self, stream: u64, block: &[u8], inserted: u64) -> bool {
        if block.first() == Some(&0) {
            return true;
        }
        let is_same = inserted == self.inserted;
        if is_same {
            self.acknowledge(stream);
        }
        is_same
    }

    /// A stream is given up before all of its blocks were read (section 4.4.2).
    pub fn cancel(&mut self, stream: u64) {
        if self.has_table() {
            integer::write(stream as usize, 6, 0x40, &mut self.said);
        }
    }

    fn acknowledge(&mut self, stream: u64) {
        integer::write(stream as usize, 7, 0x80, &mut self.said);
    }

    /// What stands before the fields (section 4.5.1).
    fn read_prefix<'b>(&self, block: &'b [u8]) -> Result<(Footing, &'b [u8]), QpackError> {
        let (required, taken) = integer::read(block, 8)?;
        let required = self.required(required as u64)?;
        let rest = &block[taken..];
        let (delta, taken) = integer::read(rest, 7)?;
        let delta = delta as u64;
        let base = if rest[0] & 0x80 == 0 {
            required + delta
        } else {
            required.checked_sub(delta + 1).ok_or(QpackError::Dynamic)?
        };
        Ok((Footing { required, base }, &rest[taken..]))
    }

    /// How many entries a block needs, of the remainder that it says (section 4.5.1.1).
    fn required(&self, said: u64) -> Result<u64, QpackError> {
        if said == 0 {
            return Ok(0);
        }
        let entries = (self.most / packed::OVERHEAD) as u64;
        let full = FULL * entries;
        if said > full {
            return Err(QpackError::Dynamic);
        }
        let most = self.inserted + entries;
        let mut required = most / full * full + said - 1;
        if required > most {
            required = required.checked_sub(full).ok_or(QpackError::Dynamic)?;
        }
        // Nobody says so of none; and of those that have not come no block may know.
        if required == 0 || required > self.inserted {
            return Err(QpackError::Dynamic);
        }
        Ok(required)
    }

    /// The name of a field that says its value (sections 4.5.4 to 4.5.6); with it, what is behind it.
    fn read_name<'b>(
        &self,
        footing: Footing,
        rest: &'b [u8],
        room: usize,
        name: &mut Vec<u8>,
    ) -> Result<&'b [u8], QpackError> {
        name.clear();
        let first = rest[0];
        if (0x20..0x40).contains(&first) {
            return Ok(packed::read_string(rest, 3, room, name)?);
        }
        let (index, taken) = integer::read(rest, if first >= 0x40 { 4 } else { 3 })?;
        let (known, _) = match first {
            0x40.. if first & 0x10 != 0 => fixed(index)?,
            0x40.. => self.before(footing, index)?,
            _ => self.behind(footing, index)?,
        };
        name.extend_from_slice(known);
        Ok(&rest[taken..])
    }

    /// The entry behind which so many came before the base.
    fn before(&self, footing: Footing, index: usize) -> Result<(&[u8], &[u8]), QpackError> {
        let number = footing.base.checked_sub(index as u64 + 1).ok_or(QpackError::Dynamic)?;
        self.entry(footing, number)
    }

    /// The entry that came so many after the base.
    fn behind(&self, footing: Footing, index: usize) -> Result<(&[u8], &[u8]), QpackError> {
        self.entry(footing, footing.base + index as u64)
    }

    /// The entry with this number, from 0, among those that the block needs.
    fn entry(&self, footing: Footing, number: u64) -> Result<(&[u8], &[u8]), QpackError> {
        if number >= footing.required {
            return Err(QpackError::Dynamic);
        }
        let newer = self.inserted - 1 - number;
        self.entries.get(newer as usize).ok_or(QpackError::Dynamic)
    }
}

fn fixed(index: usize) -> Result<(&'static [u8], &'static [u8]), QpackError> {
    let &(name, value) = STATIC.get(index).ok_or(QpackError::Index)?;
    Ok((name.as_bytes(), value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::OVERHEAD;

    fn read(block: &[u8], most: usize) -> Result<Vec<(String, String)>, QpackError> {
        let mut fields = FieldList::default();
        read_fields(block, most, &mut fields)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ok(fields.iter().map(|(name, value)| (text(name), text(value))).collect())
    }

    fn field(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    /// RFC 9204, appendix B.1.
    #[test]
    fn the_example_of_the_rfc() {
        let block = b"\x00\x00\x51\x0b/index.html";
        assert_eq!(read(block, 100), Ok(vec![field(":path", "/index.html")]));
    }

    #[test]
    fn each_representation_is_read() {
        let block = b"\x00\x00\xd1\xff\x23\x5f\x50\x01x\x23own\x01v\x37\x00custom-\x00";
        assert_eq!(
            read(block, 1000),
            Ok(vec![
                field(":method", "GET"),
                field("x-frame-options", "sameorigin"),
                field("user-agent", "x"),
                field("own", "v"),
                field("custom-", ""),
            ])
        );
        assert_eq!(read(b"\x00\x00", 0), Ok(vec![]));
        // A base without a table is any number.
        assert_eq!(read(b"\x00\x05\xd1", 100), Ok(vec![field(":method", "GET")]));
    }

    #[test]
    fn what_breaks_the_rules_is_refused() {
        let cases: [(&[u8], QpackError, &str); 14] = [
            (b"", QpackError::Truncated, "no prefix"),
            (b"\x00", QpackError::Truncated, "half a prefix"),
            (b"\x02\x00", QpackError::Dynamic, "entries that are required"),
            (b"\x00\x80", QpackError::Dynamic, "a base before the first entry"),
            (b"\x00\x00\x80", QpackError::Dynamic, "an entry of the dynamic table"),
            (b"\x00\x00\x10", QpackError::Dynamic, "an entry behind the base"),
            (b"\x00\x00\x40\x00", QpackError::Dynamic, "a name of the dynamic table"),
            (b"\x00\x00\x00\x00", QpackError::Dynamic, "a name behind the base"),
            (b"\x00\x00\xff\x24", QpackError::Index, "entry 99"),
            (b"\x00\x00\xff", QpackError::Truncated, "inside an index"),
            (b"\x00\x00\xff\x80\x80\x80\x80\x80\x80", QpackError::Integer, "no end"),
            (b"\x00\x00\x51", QpackError::Truncated, "before a value"),
            (b"\x00\x00\x51\x02a", QpackError::Truncated, "inside a value"),
            (b"\x00\x00\x51\x81\x00", QpackError::Huffman, "padding of zeros"),
        ];
        for (block, error, name) in cases {
            assert_eq!(read(block, 1000), Err(error), "{name}");
        }
    }

    /// RFC 9204, appendices B.2 to B.5: a table of 220 bytes, and what its encoder says.
    #[test]
    fn the_conversation_of_the_rfc() {
        let mut decoder = QpackDecoder::new(220);
        let told = |decoder: &mut QpackDecoder, said: &[u8], acknowledged: &[u8]| {
            assert_eq!(decoder.instructions(said), Ok(said.len()));
            assert_eq!(std::mem::take(decoder.said()), acknowledged);
        };
        let listed = |decoder: &mut QpackDecoder, stream, block: &[u8], said: &[u8]| {
            let mut fields = FieldList::default();
            decoder.read(stream, block, 1000, &mut fields).unwrap();
            assert_eq!(std::mem::take(decoder.said()), said);
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            fields.iter().map(|(name, value)| (text(name), text(value))).collect::<Vec<_>>()
        };
        told(&mut decoder, b"\x3f\xbd\x01\xc0\x0fwww.example.com\xc1\x0c/sample/path", b"\x02");
        let both = [field(":authority", "www.example.com"), field(":path", "/sample/path")];
        assert_eq!(listed(&mut decoder, 4, b"\x03\x81\x10\x11", b"\x84"), both);
        told(&mut decoder, b"\x4acustom-key\x0ccustom-value", b"\x01");
        told(&mut decoder, b"\x02", b"\x01");
        let three = [
            field(":authority", "www.example.com"),
            field(":path", "/"),
            field("custom-key", "custom-value"),
        ];
        assert_eq!(listed(&mut decoder, 8, b"\x05\x00\x80\xc1\x81", b"\x88"), three);
        told(&mut decoder, b"\x81\x0dcustom-value2", b"\x01");
        // The last of them has made the first go.
        assert_eq!((decoder.inserted(), decoder.entries.size()), (5, 215));
        assert!(decoder.entries.get(3).is_some() && decoder.entries.get(4).is_none());
        let mut fields = FieldList::default();
        let gone = decoder.read(12, b"\x06\x00\x84", 1000, &mut fields);
        assert_eq!(gone, Err(QpackError::Dynamic));
    }

    #[test]
    fn an_entry_that_was_not_said_to_be_needed_is_none() {
        let mut decoder = QpackDecoder::new(220);
        decoder.instructions(b"\x3f\xbd\x01\x41a\x011\x41b\x012").unwrap();
        let cases: [(&[u8], &str); 6] = [
            (b"\x02\x00\x81", "before the first"),
            (b"\x02\x01\x80", "the second, and one is needed"),
            (b"\x02\x00\x10", "behind the base, and one is needed"),
            (b"\x04\x00\x80", "three are needed, and two have come"),
            (b"\x0d\x00\x80", "more than twice what there can be"),
            (b"\x02\x81\x80", "a base before the first"),
        ];
        for (block, why) in cases {
            let mut fields = FieldList::default();
            let read = decoder.read(0, block, 1000, &mut fields);
            assert_eq!(read, Err(QpackError::Dynamic), "{why}");
        }
        assert!(decoder.said().ends_with(b"\x02"), "nothing is acknowledged");
    }

    /// Numbers of entries are said by their remainder, and must come back over many rounds.
    #[test]
    fn a_remainder_is_one_number_however_many_came() {
        let mut decoder = QpackDecoder::new(100);
        decoder.instructions(b"\x3f\x45").unwrap();
        for round in 0_u64..50 {
            let value = b'0' + (round % 10) as u8;
            decoder.instructions(&[0x41, b'a', 0x01, value]).unwrap();
            let entries = 100 / 32;
            let mut block = Vec::new();
            integer::write(((round + 1) % (2 * entries) + 1) as usize, 8, 0, &mut block);
            block.extend([0, 0x80]);
            let mut fields = FieldList::default();
            decoder.read(0, &block, 1000, &mut fields).unwrap();
            assert_eq!(fields.get(b"a"), Some(&[value][..]), "{round}");
        }
    }

    #[test]
    fn without_a_table_nobody_is_told_anything() {
        let mut decoder = QpackDecoder::new(0);
        decoder.cancel(4);
        decoder.read(0, b"\x00\x00\xd1", 100, &mut FieldList::default()).unwrap();
        assert!(decoder.said().is_empty());
        let mut decoder = QpackDecoder::new(100);
        decoder.cancel(4);
        assert_eq!(decoder.said(), b"\x44");
    }

    #[test]
    fn a_list_over_the_limit_is_refused() {
        let block = b"\x00\x00\xd1\xd1";
        let size = 2 * (":method".len() + "GET".len() + OVERHEAD);
        assert_eq!(read(block, size).map(|fields| fields.len()), Ok(2));
        assert_eq!(read(block, size - 1), Err(QpackError::TooLarge));
    }
}
