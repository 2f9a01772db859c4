//! Bytes that come in pieces. Knows where they are cut; must not know what they mean.

/// The input cut at these distances, each counted from the cut before; the last piece is what is left.
pub fn cut<'a>(input: &'a [u8], distances: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut behind = input;
    for &distance in distances {
        let (piece, rest) = behind.split_at(behind.len().min(usize::from(distance)));
        pieces.push(piece);
        behind = rest;
    }
    pieces.push(behind);
    pieces
}
