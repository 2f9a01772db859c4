//! Numbers and strings as HPACK and QPACK write them (RFC 7541 section 5, RFC 9204 section 4.1).
//!
//! Knows bits, where a static table has a field, and what a dynamic one holds; must not know which
//! table, nor what a number counts. A number with a prefix and a string whose length has one are the same in both, whatever
//! stands before the prefix.

pub(crate) mod entries;
pub(crate) mod huffman;
pub(crate) mod integer;

/// What a field costs in a table or a list beside its name and its value (RFC 7541 section 4.1, RFC
/// 9114 section 4.2.2), bytes.
pub(crate) const OVERHEAD: usize = 32;

/// Why a number or a string can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackedError {
    /// The input ends inside it.
    Truncated,
    /// A number that does not fit, or is written in more bytes than it needs.
    Integer,
    /// Bits that are no code, or padding that is none.
    Huffman,
    /// A string that is longer than there is room.
    TooLarge,
}

/// May somebody on the way index the field?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// Yes; we only don't.
    Plain,
    /// No: it is a secret, and its length in a compressed stream would tell of it (RFC 7541
    /// section 7.1.3).
    Never,
}

/// Where a field stands in a static table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Name and value.
    Whole(usize),
    /// The name.
    Name(usize),
    /// Nowhere.
    None,
}

/// Where a static table, whose indices begin with `first`, has this field.
pub(crate) fn place(table: &[(&str, &str)], first: usize, name: &[u8], value: &[u8]) -> Place {
    let named = || table.iter().zip(first..).filter(|((each, _), _)| each.as_bytes() == name);
    if let Some((_, index)) = named().find(|((_, each), _)| each.as_bytes() == value) {
        return Place::Whole(index);
    }
    named().next().map_or(Place::None, |(_, index)| Place::Name(index))
}

/// What a field takes of a table or of a list, bytes.
pub(crate) fn cost(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + OVERHEAD
}

/// What is left of the room for a list of fields behind this one.
pub(crate) fn left(room: usize, name: &[u8], value: &[u8]) -> Result<usize, PackedError> {
    room.checked_sub(cost(name, value)).ok_or(PackedError::TooLarge)
}

/// Reads a string whose length has a prefix of `bits` bits, and behind whose flag the Huffman code
/// stands; appends at most `room` bytes of a coded one. Returns what is behind it.
pub(crate) fn read_string<'a>(
    input: &'a [u8],
    bits: u32,
    room: usize,
    out: &mut Vec<u8>,
) -> Result<&'a [u8], PackedError> {
    let (length, taken) = integer::read(input, bits)?;
    let behind = &input[taken..];
    let Some(text) = behind.get(..length) else {
        return Err(PackedError::Truncated);
    };
    if input[0] & coded(bits) != 0 {
        huffman::decode(text, room, out)?;
    } else {
        out.extend_from_slice(text);
    }
    Ok(&behind[length..])
}

/// Appends a string in the Huffman code where that is shorter; its length shares a byte with
/// `flags`.
pub(crate) fn write_string(text: &[u8], bits: u32, flags: u8, out: &mut Vec<u8>) {
    let length = huffman::length(text);
    if length < text.len() {
        integer::write(length, bits, flags | coded(bits), out);
        huffman::encode(text, out);
    } else {
        integer::write(text.len(), bits, flags, out);
        out.extend_from_slice(text);
    }
}

/// Appends the length of a value that follows as it is.
pub(crate) fn write_value_head(length: usize, out: &mut Vec<u8>) {
    integer::write(length, 7, 0, out);
}

/// The flag before a prefix of so many bits.
const fn coded(bits: u32) -> u8 {
    1 << bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_string_goes_there_and_back_behind_any_flags(text: Vec<u8>, bits in 3_u32..=7) {
            let flags = if bits < 7 { 1 << (bits + 1) } else { 0 };
            let mut out = Vec::new();
            write_string(&text, bits, flags, &mut out);
            prop_assert_eq!(out[0] & flags, flags);
            out.push(b'!');
            let mut back = Vec::new();
            prop_assert_eq!(read_string(&out, bits, text.len(), &mut back), Ok(&b"!"[..]));
            prop_assert_eq!(back, text);
        }
    }

    #[test]
    fn a_string_that_is_not_whole_is_told() {
        let mut out = Vec::new();
        write_string(b"custom-key", 3, 0x20, &mut out);
        for end in 0..out.len() {
            let read = read_string(&out[..end], 3, 99, &mut Vec::new());
            assert_eq!(read, Err(PackedError::Truncated), "{end}");
        }
        assert_eq!(read_string(&out, 3, 9, &mut Vec::new()), Err(PackedError::TooLarge));
    }
}
