//! What the routes answer with.
//!
//! Knows bytes; must not know how they are framed or sent.

/// The body of `GET /message`: 64 bytes of JSON.
pub const MESSAGE: &[u8; 64] =
    b"{\"id\":\"7\",\"text\":\"One message of 64 bytes, asked for in 4 ways\"}";

/// The body of `GET /`.
pub(crate) const PAGE: &[u8] = include_bytes!("page.html");

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A stretch of the pattern: the alphabet over and over, from its first letter.
pub(crate) static PATTERN: [u8; 16 * 1024] = pattern();

/// The byte at this offset of the body of `GET /bytes/N` and `GET /chunked/N`.
pub const fn pattern_at(offset: u64) -> u8 {
    ALPHABET[(offset % ALPHABET.len() as u64) as usize]
}

/// Up to `most` bytes of the pattern from this offset on; at least one where `most` is not zero.
pub(crate) fn pattern_from(offset: u64, most: u64) -> &'static [u8] {
    let start = (offset % ALPHABET.len() as u64) as usize;
    let length = most.min((PATTERN.len() - start) as u64) as usize;
    &PATTERN[start..start + length]
}

const fn pattern() -> [u8; 16 * 1024] {
    let mut bytes = [0; 16 * 1024];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = pattern_at(at as u64);
        at += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_the_pattern_join() {
        let mut whole = Vec::new();
        while whole.len() < 100_000 {
            whole.extend_from_slice(pattern_from(whole.len() as u64, 9_001));
        }
        assert!((0..).zip(&whole).all(|(offset, &byte)| byte == pattern_at(offset)));
    }
}
