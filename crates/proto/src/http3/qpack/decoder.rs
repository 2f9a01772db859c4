//! Blocks of fields, read (RFC 9204 section 4.5).
//!
//! Knows representations; must not know which fields are allowed.

use super::QpackError;
use super::table::STATIC;
use crate::fields::FieldList;
use crate::packed::{self, integer};

/// Reads one whole block and appends its fields. Their size, counted as
/// `SETTINGS_MAX_FIELD_SECTION_SIZE` is (RFC 9114 section 4.2.2), may not be over `most`.
///
/// # Errors
/// The block breaks the rules, refers to a dynamic table, or is over the limit. What was read before
/// that is in `fields`.
pub fn read_fields(block: &[u8], most: usize, fields: &mut FieldList) -> Result<(), QpackError> {
    let mut room = most;
    let mut rest = read_prefix(block)?;
    // Where strings are read before they are a field.
    let (mut name, mut value) = (Vec::new(), Vec::new());
    while let Some(&first) = rest.first() {
        if first >= 0x80 {
            // An indexed field; the next bit says of which table.
            let (index, taken) = integer::read(rest, 6)?;
            let (name, value) = entry(index, first & 0x40 != 0)?;
            rest = &rest[taken..];
            room = packed::left(room, name, value)?;
            fields.push(name, value);
            continue;
        }
        name.clear();
        value.clear();
        match first {
            0x40.. => {
                let (index, taken) = integer::read(rest, 4)?;
                name.extend_from_slice(entry(index, first & 0x10 != 0)?.0);
                rest = &rest[taken..];
            }
            0x20.. => rest = packed::read_string(rest, 3, room, &mut name)?,
            // Both refer to entries behind the base.
            _ => return Err(QpackError::Dynamic),
        }
        rest = packed::read_string(rest, 7, room, &mut value)?;
        room = packed::left(room, &name, &value)?;
        fields.push(&name, &value);
    }
    Ok(())
}

/// What stands before the fields: without a table nothing is required, and the base is not before
/// it.
fn read_prefix(block: &[u8]) -> Result<&[u8], QpackError> {
    let (required, taken) = integer::read(block, 8)?;
    if required != 0 {
        return Err(QpackError::Dynamic);
    }
    let rest = &block[taken..];
    let (_, taken) = integer::read(rest, 7)?;
    // The sign says that the base is before what is required (section 4.5.1.2).
    if rest[0] & 0x80 != 0 {
        return Err(QpackError::Dynamic);
    }
    Ok(&rest[taken..])
}

fn entry(index: usize, is_static: bool) -> Result<(&'static [u8], &'static [u8]), QpackError> {
    if !is_static {
        return Err(QpackError::Dynamic);
    }
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

    #[test]
    fn a_list_over_the_limit_is_refused() {
        let block = b"\x00\x00\xd1\xd1";
        let size = 2 * (":method".len() + "GET".len() + OVERHEAD);
        assert_eq!(read(block, size).map(|fields| fields.len()), Ok(2));
        assert_eq!(read(block, size - 1), Err(QpackError::TooLarge));
    }
}
