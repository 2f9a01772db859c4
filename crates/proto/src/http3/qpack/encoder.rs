//! Fields, written so that the bytes are right on every connection at any time; and, for who asks for it, into the
//! peer's table and out of it.
//!
//! Knows the static table and the ways to index or not to; must not know whose fields they are, nor what the peer's
//! table has.

use super::table;
use crate::packed::{Place, Secrecy, integer, write_string};

/// Appends what stands before the fields of a block that needs no dynamic table (RFC 9204 section
/// 4.5.1): a required insert count of 0 and a base of 0.
pub fn write_prefix(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0]);
}

/// Appends one field, without the dynamic table (RFC 9204 sections 4.5.2, 4.5.4 and 4.5.6). Names
/// must be in lower case (RFC 9114 section 4.2).
///
/// A secret is written like any other field, without the bit "never indexed": servers with quic-go's QPACK up to
/// version 0.4 close the connection over it, as they take such a name for one of the dynamic table.
pub fn write_field(name: &[u8], value: &[u8], _: Secrecy, out: &mut Vec<u8>) {
    let place = table::place(name, value);
    if let Place::Whole(index) = place {
        integer::write(index, 6, 0xc0, out);
        return;
    }
    write_placed(place, name, out);
    write_string(value, 7, 0, out);
}

/// Appends what stands before the fields of a block that needs so many entries of the peer's table (RFC 9204
/// section 4.5.1), and counts from behind them. Fewer than the table can hold are said as they are.
pub(in crate::http3) fn write_footing(required: usize, out: &mut Vec<u8>) {
    integer::write(if required == 0 { 0 } else { required + 1 }, 8, 0, out);
    out.push(0);
}

/// Appends the instruction with which the peer's table may hold so many bytes (RFC 9204 section 4.3.1).
pub(in crate::http3) fn write_capacity(capacity: usize, out: &mut Vec<u8>) {
    integer::write(capacity, 5, 0x20, out);
}

/// Appends the instruction that puts a field into the peer's table (RFC 9204 sections 4.3.2 and 4.3.3).
pub(in crate::http3) fn write_kept(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    match table::place(name, value) {
        Place::Whole(index) | Place::Name(index) => integer::write(index, 6, 0xc0, out),
        Place::None => write_string(name, 5, 0x40, out),
    }
    write_string(value, 7, 0, out);
}

/// Appends a field that the peer's table has; so many came into it after that one.
pub(in crate::http3) fn write_index(newer: usize, out: &mut Vec<u8>) {
    integer::write(newer, 6, 0x80, out);
}

/// Does the table that never changes have it, name and value?
pub(in crate::http3) fn is_static(name: &[u8], value: &[u8]) -> bool {
    matches!(table::place(name, value), Place::Whole(_))
}

/// Appends what goes before a value: the name, of a secret too.
pub(in crate::http3) fn write_name(name: &[u8], _: Secrecy, out: &mut Vec<u8>) {
    write_placed(table::place(name, b""), name, out);
}

/// The same of a name whose place in the static table is known.
fn write_placed(place: Place, name: &[u8], out: &mut Vec<u8>) {
    match place {
        Place::Whole(index) | Place::Name(index) => integer::write(index, 4, 0x50, out),
        Place::None => write_string(name, 3, 0x20, out),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fields::FieldList;
    use crate::http3::qpack::{QpackDecoder, read_fields};

    fn written(name: &str, value: &str, secrecy: Secrecy) -> Vec<u8> {
        let mut out = Vec::new();
        write_field(name.as_bytes(), value.as_bytes(), secrecy, &mut out);
        out
    }

    #[test]
    fn what_the_static_table_has_is_one_byte_or_two() {
        assert_eq!(written(":method", "GET", Secrecy::Plain), [0xd1]);
        assert_eq!(written(":path", "/", Secrecy::Plain), [0xc1]);
        // The last of the table does not fit into six bits.
        assert_eq!(written("x-frame-options", "sameorigin", Secrecy::Plain), [0xff, 98 - 63]);
    }

    #[test]
    fn a_name_of_the_table_is_referred_to() {
        // RFC 9204, appendix B.1: `:path` of index 1 with a value of its own.
        let path = written(":path", "/index.html", Secrecy::Plain);
        assert_eq!(path[..2], [0x51, 0x80 | 8]);
        assert_eq!(written("x-own", "", Secrecy::Plain)[0] & 0xe0, 0x20);
    }

    #[test]
    fn a_secret_has_no_bit_of_its_own() {
        // 0x75 and 0x3_ would say "never indexed", which quic-go's QPACK does not read up to version 0.4.
        assert_eq!(written("cookie", "a=b", Secrecy::Never)[0], 0x55);
        assert_eq!(written("x-own", "1", Secrecy::Never)[0] & 0xf0, 0x20);
        for (name, value) in [("authorization", "Bearer x"), ("accept", "*/*"), ("x-own", "1")] {
            assert_eq!(written(name, value, Secrecy::Never), written(name, value, Secrecy::Plain));
        }
    }

    #[test]
    fn what_is_kept_is_read_by_its_age() {
        let fields = [(":authority", "a:1"), ("x-own", "1"), ("accept", "text/html")];
        let (mut said, mut block) = (Vec::new(), Vec::new());
        write_capacity(4096, &mut said);
        for (name, value) in fields {
            write_kept(name.as_bytes(), value.as_bytes(), &mut said);
        }
        write_footing(3, &mut block);
        for newer in [2, 0, 1] {
            write_index(newer, &mut block);
        }
        assert_eq!(block, [4, 0, 0x82, 0x80, 0x81]);
        let mut decoder = QpackDecoder::new(4096);
        assert_eq!(decoder.instructions(&said), Ok(said.len()));
        let mut found = FieldList::default();
        decoder.read(0, &block, 1000, &mut found).unwrap();
        assert_eq!(found, FieldList::of(&[fields[0], fields[2], fields[1]]));
        let mut none = Vec::new();
        write_footing(0, &mut none);
        assert_eq!(none, [0, 0]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(list: Vec<(String, Vec<u8>, bool)>) {
            let mut out = Vec::new();
            let mut wanted = FieldList::default();
            write_prefix(&mut out);
            for (name, value, is_secret) in &list {
                let secrecy = if *is_secret { Secrecy::Never } else { Secrecy::Plain };
                write_field(name.as_bytes(), value, secrecy, &mut out);
                wanted.push(name.as_bytes(), value);
            }
            let mut found = FieldList::default();
            prop_assert_eq!(read_fields(&out, usize::MAX, &mut found), Ok(()));
            prop_assert_eq!(found, wanted);
        }
    }
}
