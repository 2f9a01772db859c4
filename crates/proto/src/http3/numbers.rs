//! Streams of requests by the keys of a table.
//!
//! Knows which numbers a client's requests have (RFC 9000 section 2.1); must not know what is kept of
//! them.

/// Requests of one connection: as many as have a [key](key).
pub(super) const MOST_REQUESTS: u32 = 1 << 30;

/// By which the table knows a stream that a client opened for a request: like a number of HTTP/2, odd.
/// 0: it is none of those that are counted.
#[inline]
pub(super) fn key(stream: u64) -> u32 {
    match u32::try_from(stream >> 2) {
        Ok(place) if place < MOST_REQUESTS && stream.is_multiple_of(4) => 2 * place + 1,
        _ => 0,
    }
}

/// The stream with this key.
#[inline]
pub(super) fn stream(key: u32) -> u64 {
    4 * u64::from(key >> 1)
}

/// Is it a stream of one direction?
pub(super) fn is_one_way(stream: u64) -> bool {
    stream & 2 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_a_key_and_nothing_else_has() {
        let last = 4 * u64::from(MOST_REQUESTS - 1);
        for id in [0, 4, 8, 400, last] {
            assert_eq!((key(id) % 2, stream(key(id))), (1, id));
        }
        for id in [1, 2, 3, 5, last + 4, u64::MAX] {
            assert_eq!(key(id), 0, "{id}");
        }
    }
}
