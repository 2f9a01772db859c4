//! Fields, written so that the bytes are right on every connection at any time; and, for who asks for it, into the
//! peer's table and out of it.
//!
//! Knows the static table and the ways to index or not to; must not know whose fields they are, nor what the peer's
//! table has.

use super::table;
use crate::packed::{Place, Secrecy, integer, write_string};

/// Appends one field, without the dynamic table. Names must be in lower case (RFC 9113 section 8.2).
pub fn write_field(name: &[u8], value: &[u8], secrecy: Secrecy, out: &mut Vec<u8>) {
    let place = table::place(name, value);
    if let (Place::Whole(index), Secrecy::Plain) = (place, secrecy) {
        integer::write(index, 7, 0x80, out);
        return;
    }
    write_placed(place, name, secrecy, out);
    write_string(value, 7, 0, out);
}

/// Appends one field that the peer's table gets (RFC 7541 section 6.2.1).
pub(in crate::http2) fn write_kept(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    match table::place(name, value) {
        Place::Whole(index) | Place::Name(index) => integer::write(index, 6, 0x40, out),
        Place::None => {
            out.push(0x40);
            write_string(name, 7, 0, out);
        }
    }
    write_string(value, 7, 0, out);
}

/// Appends a field that the peer's table has; so many came into it after that one.
pub(in crate::http2) fn write_index(newer: usize, out: &mut Vec<u8>) {
    integer::write(table::STATIC.len() + 1 + newer, 7, 0x80, out);
}

/// Does the table that never changes have it, name and value?
pub(in crate::http2) fn is_static(name: &[u8], value: &[u8]) -> bool {
    matches!(table::place(name, value), Place::Whole(_))
}

/// Appends what goes before a value: how it is to be treated, and the name.
pub(in crate::http2) fn write_name(name: &[u8], secrecy: Secrecy, out: &mut Vec<u8>) {
    write_placed(table::place(name, b""), name, secrecy, out);
}

/// The same of a name whose place in the static table is known.
fn write_placed(place: Place, name: &[u8], secrecy: Secrecy, out: &mut Vec<u8>) {
    let flags = match secrecy {
        Secrecy::Plain => 0,
        Secrecy::Never => 0x10,
    };
    match place {
        Place::Whole(index) | Place::Name(index) => integer::write(index, 4, flags, out),
        Place::None => {
            out.push(flags);
            write_string(name, 7, 0, out);
        }
    }
}

/// Appends a change of the table's size, which may only begin a block. An encoder that never uses
/// the table says 0 once, so that the peer keeps no memory for it.
pub fn write_table_size(size: usize, out: &mut Vec<u8>) {
    integer::write(size, 5, 0x20, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fields::FieldList;
    use crate::http2::hpack::HpackDecoder;

    fn written(name: &str, value: &str, secrecy: Secrecy) -> Vec<u8> {
        let mut out = Vec::new();
        write_field(name.as_bytes(), value.as_bytes(), secrecy, &mut out);
        out
    }

    #[test]
    fn what_the_static_table_has_is_one_byte() {
        assert_eq!(written(":method", "GET", Secrecy::Plain), [0x82]);
        assert_eq!(written(":status", "404", Secrecy::Plain), [0x8d]);
        assert_eq!(written(":path", "/a", Secrecy::Plain)[0], 4);
        assert_eq!(written("x-own", "", Secrecy::Plain)[0], 0);
    }

    #[test]
    fn a_secret_is_never_indexed() {
        assert_eq!(written("cookie", "a=b", Secrecy::Never)[..2], [0x1f, 17]);
        assert_eq!(written("accept-encoding", "gzip, deflate", Secrecy::Never)[..2], [0x1f, 1]);
        assert_eq!(written("x-own", "1", Secrecy::Never)[0], 0x10);
    }

    #[test]
    fn a_table_is_given_up_in_one_byte() {
        let mut out = Vec::new();
        write_table_size(0, &mut out);
        assert_eq!(out, [0x20]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            list: Vec<(String, Vec<u8>, bool)>,
        ) {
            let mut out = Vec::new();
            let mut wanted = FieldList::default();
            for (name, value, is_secret) in &list {
                let secrecy = if *is_secret { Secrecy::Never } else { Secrecy::Plain };
                write_field(name.as_bytes(), value, secrecy, &mut out);
                wanted.push(name.as_bytes(), value);
            }
            let mut found = FieldList::default();
            HpackDecoder::new(0).read(&out, usize::MAX, &mut found).unwrap();
            prop_assert_eq!(found, wanted);
        }
    }
}
