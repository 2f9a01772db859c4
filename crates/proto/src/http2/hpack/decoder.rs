//! Blocks of fields, read (RFC 7541 section 6).
//!
//! Knows representations and the table that they change; must not know which fields are allowed.

use super::HpackError;
use super::table::{self, DynamicTable};
use crate::fields::FieldList;
use crate::packed::{self, integer};

/// One direction of one connection: what the peer's encoder has indexed.
#[derive(Debug)]
pub struct HpackDecoder {
    table: DynamicTable,
    /// How large the peer may make its table: the setting that it acknowledged.
    allowed: usize,
    /// It must begin the next block with a change to this or less: the setting became smaller.
    due: Option<usize>,
    /// Where strings are read before they are fields.
    name: Vec<u8>,
    value: Vec<u8>,
    footing: Footing,
}

/// What the block that was read last has to do with the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::http2) struct Footing {
    /// It refers to entries that the peer added, or changes the table's size: it means what it means
    /// with that table alone.
    pub(in crate::http2) needs_table: bool,
    /// What it added, as the table counts it, bytes.
    pub(in crate::http2) added: usize,
    /// What the table may hold, bytes.
    pub(in crate::http2) room: usize,
}

impl HpackDecoder {
    /// Of a new connection whose `SETTINGS_HEADER_TABLE_SIZE` is this.
    pub fn new(table_size: usize) -> Self {
        Self {
            table: DynamicTable::new(table_size),
            allowed: table_size,
            due: None,
            name: Vec::new(),
            value: Vec::new(),
            footing: Footing::default(),
        }
    }

    /// The peer has acknowledged another `SETTINGS_HEADER_TABLE_SIZE`.
    pub fn allow(&mut self, table_size: usize) {
        // A table that is small already keeps to it, and need not say so (RFC 7541 section 4.2).
        if table_size < self.table.most() {
            self.due = Some(self.due.map_or(table_size, |due| due.min(table_size)));
        }
        self.allowed = table_size;
    }

    /// Which table a block finds: the same block reads the same while this is the same. None: the next
    /// block has to change it.
    pub(in crate::http2) fn version(&self) -> Option<u64> {
        self.due.is_none().then(|| self.table.changes())
    }

    /// What the block that was read last has to do with the table.
    pub(in crate::http2) fn footing(&self) -> Footing {
        self.footing
    }

    /// Reads one whole block and appends its fields. Their size, counted as
    /// `SETTINGS_MAX_HEADER_LIST_SIZE` is (RFC 9113 section 6.5.2), may not be over `most`.
    ///
    /// # Errors
    /// The block breaks the rules, or is over the limit. The connection can't go on: what the rest
    /// of the block would have put into the table is not known.
    pub fn read(
        &mut self,
        block: &[u8],
        most: usize,
        fields: &mut FieldList,
    ) -> Result<(), HpackError> {
        let mut room = most;
        let mut rest = self.read_changes(block)?;
        let mut footing =
            Footing { needs_table: rest.len() < block.len(), added: 0, room: self.table.most() };
        while let Some(&first) = rest.first() {
            let (index, taken) = match first {
                0x80.. => integer::read(rest, 7)?,
                0x40.. => integer::read(rest, 6)?,
                0x20.. => return Err(HpackError::TableSize),
                _ => integer::read(rest, 4)?,
            };
            rest = &rest[taken..];
            footing.needs_table |= table::is_dynamic(index);
            if first >= 0x80 {
                let (name, value) = self.table.get(index)?;
                room = packed::left(room, name, value)?;
                fields.push(name, value);
                continue;
            }
            self.name.clear();
            if index == 0 {
                rest = packed::read_string(rest, 7, room, &mut self.name)?;
            } else {
                self.name.extend_from_slice(self.table.get(index)?.0);
            }
            self.value.clear();
            rest = packed::read_string(rest, 7, room, &mut self.value)?;
            room = packed::left(room, &self.name, &self.value)?;
            fields.push(&self.name, &self.value);
            if first >= 0x40 {
                self.table.add(&self.name, &self.value);
                footing.added += packed::cost(&self.name, &self.value);
            }
        }
        self.footing = footing;
        Ok(())
    }

    /// Changes of the table's size, which only the begin of a block may have.
    fn read_changes<'a>(&mut self, block: &'a [u8]) -> Result<&'a [u8], HpackError> {
        let mut rest = block;
        let mut changes = 0;
        while let Some(0x20..0x40) = rest.first() {
            let (size, taken) = integer::read(rest, 5)?;
            rest = &rest[taken..];
            changes += 1;
            // The smallest and the last of several: two tell all (RFC 7541 section 4.2).
            if size > self.allowed || changes > 2 {
                return Err(HpackError::TableSize);
            }
            if self.due.is_some_and(|due| size <= due) {
                self.due = None;
            }
            self.table.resize(size);
        }
        if self.due.is_some() { Err(HpackError::TableSize) } else { Ok(rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    fn read(decoder: &mut HpackDecoder, block: &str) -> Result<Vec<(String, String)>, HpackError> {
        let mut fields = FieldList::default();
        decoder.read(&hex(block), 16_384, &mut fields)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ok(fields.iter().map(|(name, value)| (text(name), text(value))).collect())
    }

    fn fields(lines: &str) -> Vec<(String, String)> {
        let split = |line: &str| {
            let (name, value) = line.trim().split_once("= ").unwrap();
            (name.to_owned(), value.to_owned())
        };
        lines.lines().filter(|line| !line.trim().is_empty()).map(split).collect()
    }

    const FIRST: &str = ":method= GET
        :scheme= http
        :path= /
        :authority= www.example.com";
    const SECOND: &str = ":method= GET
        :scheme= http
        :path= /
        :authority= www.example.com
        cache-control= no-cache";
    const THIRD: &str = ":method= GET
        :scheme= https
        :path= /index.html
        :authority= www.example.com
        custom-key= custom-value";

    /// RFC 7541, appendices C.3 and C.4: three requests, without Huffman and with.
    #[test]
    fn the_requests_of_the_rfc() {
        let plain = [
            "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
            "8286 84be 5808 6e6f 2d63 6163 6865",
            "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
        ];
        let coded = [
            "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
            "8286 84be 5886 a8eb 1064 9cbf",
            "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
        ];
        for blocks in [plain, coded] {
            let mut decoder = HpackDecoder::new(4096);
            for (block, wanted) in blocks.into_iter().zip([FIRST, SECOND, THIRD]) {
                assert_eq!(read(&mut decoder, block), Ok(fields(wanted)));
            }
            assert_eq!(decoder.table.size(), 164);
        }
    }

    /// RFC 7541, appendix C.6: responses through a table of 256 bytes, so that entries go.
    #[test]
    fn the_responses_of_the_rfc() {
        let blocks = [
            "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6
             2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
            "4883 640e ffc1 c0bf",
            "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab
             77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f
             9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        ];
        let wanted = [
            ":status= 302
            cache-control= private
            date= Mon, 21 Oct 2013 20:13:21 GMT
            location= https://www.example.com",
            ":status= 307
            cache-control= private
            date= Mon, 21 Oct 2013 20:13:21 GMT
            location= https://www.example.com",
            ":status= 200
            cache-control= private
            date= Mon, 21 Oct 2013 20:13:22 GMT
            location= https://www.example.com
            content-encoding= gzip
            set-cookie= foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
        ];
        let mut decoder = HpackDecoder::new(256);
        for ((block, wanted), size) in blocks.into_iter().zip(wanted).zip([222, 222, 215]) {
            assert_eq!(read(&mut decoder, block), Ok(fields(wanted)));
            assert_eq!(decoder.table.size(), size);
        }
    }

    #[test]
    fn a_field_that_is_not_indexed_is_not_in_the_table() {
        // Without indexing, and never indexed (RFC 7541, appendices C.2.2 and C.2.3).
        let mut decoder = HpackDecoder::new(4096);
        let path = read(&mut decoder, "040c 2f73 616d 706c 652f 7061 7468");
        assert_eq!(path, Ok(fields(":path= /sample/path")));
        let secret = read(&mut decoder, "1008 7061 7373 776f 7264 0673 6563 7265 74");
        assert_eq!(secret, Ok(fields("password= secret")));
        assert_eq!(decoder.table.size(), 0);
    }

    #[test]
    fn what_breaks_the_rules_is_refused() {
        let cases = [
            ("80", HpackError::Index, "index 0"),
            ("be", HpackError::Index, "an entry that is not there"),
            ("ff80 8080 8080 80", HpackError::Integer, "a number without end"),
            ("ff", HpackError::Truncated, "inside a number"),
            ("40", HpackError::Truncated, "before a name"),
            ("4001 6101", HpackError::Truncated, "inside a value"),
            ("0081 00", HpackError::Huffman, "padding of zeros"),
            ("3fe2 1f", HpackError::TableSize, "a table of 4,097 bytes"),
            ("8220", HpackError::TableSize, "a change behind a field"),
            ("2020 20", HpackError::TableSize, "three changes"),
        ];
        for (block, error, name) in cases {
            assert_eq!(read(&mut HpackDecoder::new(4096), block), Err(error), "{name}");
        }
    }

    #[test]
    fn a_smaller_table_must_be_told_of() {
        let mut decoder = HpackDecoder::new(4096);
        decoder.allow(100);
        decoder.allow(200);
        assert_eq!(read(&mut decoder, "82"), Err(HpackError::TableSize), "nothing told");
        // 150 is allowed now, but the table was to be 100 or less in between.
        assert_eq!(read(&mut decoder, "3f77 82"), Err(HpackError::TableSize), "too large");
        let both = read(&mut decoder, "3f45 3fa9 01 82");
        assert_eq!(both, Ok(fields(":method= GET")), "100, then 200");
        assert_eq!(read(&mut decoder, "82"), Ok(fields(":method= GET")));
    }

    #[test]
    fn a_table_that_is_small_already_need_not_be_told_of() {
        let mut decoder = HpackDecoder::new(4096);
        // Of what it may have, the encoder takes 50 bytes.
        assert_eq!(read(&mut decoder, "3f13 82"), Ok(fields(":method= GET")));
        decoder.allow(100);
        assert_eq!(read(&mut decoder, "82"), Ok(fields(":method= GET")));
        decoder.allow(40);
        decoder.allow(4096);
        assert_eq!(read(&mut decoder, "82"), Err(HpackError::TableSize), "40 was less");
    }

    #[test]
    fn a_list_over_the_limit_is_refused_however_it_is_written() {
        // Each refers to an entry of 4,000 bytes: a block of 64 would be a list of 256 kB.
        let mut decoder = HpackDecoder::new(4096);
        let mut block = vec![0x40, 1, b'a'];
        integer::write(4000, 7, 0, &mut block);
        block.extend_from_slice(&[b'x'; 4000]);
        block.extend_from_slice(&[0xbe; 63]);
        let mut list = FieldList::default();
        assert_eq!(decoder.read(&block, 65_536, &mut list), Err(HpackError::TooLarge));
        assert!(list.bytes() <= 65_536);
        let mut list = FieldList::default();
        let mut decoder = HpackDecoder::new(4096);
        assert_eq!(decoder.read(&block, 64 * (4001 + 32), &mut list), Ok(()));
        assert_eq!((list.len(), list.bytes()), (64, 64 * 4001));
    }
}
