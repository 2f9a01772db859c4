//! Masking (RFC 6455 section 5.3): the payload xor the mask, over and over.
//!
//! Knows bytes only.

/// How much is copied before it is masked: the copy is still in the first-level cache then.
const BLOCK: usize = 8 * 1024;
/// What is not longer is masked on its way, word by word: less than a call that copies it costs.
const SMALL: usize = 64;

/// Masks, or unmasks, in place. `mask[0]` belongs to the first byte of `data`.
#[inline]
pub(crate) fn apply(mask: [u8; 4], data: &mut [u8]) {
    let half = u32::from_ne_bytes(mask);
    let (words, rest) = data.as_chunks_mut::<8>();
    let whole = u64::from(half) | u64::from(half) << 32;
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ whole).to_ne_bytes();
    }
    let (words, rest) = rest.as_chunks_mut::<4>();
    for word in words {
        *word = (u32::from_ne_bytes(*word) ^ half).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

/// Appends the masked payload.
#[inline]
pub(crate) fn append(mask: [u8; 4], payload: &[u8], out: &mut Vec<u8>) {
    if payload.len() <= SMALL {
        return append_small(mask, payload, out);
    }
    for block in payload.chunks(BLOCK) {
        let start = out.len();
        out.extend_from_slice(block);
        apply(mask, &mut out[start..]);
    }
}

#[inline]
fn append_small(mask: [u8; 4], payload: &[u8], out: &mut Vec<u8>) {
    let half = u32::from_ne_bytes(mask);
    let whole = u64::from(half) | u64::from(half) << 32;
    out.reserve(payload.len());
    let (words, rest) = payload.as_chunks::<8>();
    for word in words {
        out.extend_from_slice(&(u64::from_ne_bytes(*word) ^ whole).to_ne_bytes());
    }
    let (words, rest) = rest.as_chunks::<4>();
    for word in words {
        out.extend_from_slice(&(u32::from_ne_bytes(*word) ^ half).to_ne_bytes());
    }
    for (index, byte) in rest.iter().enumerate() {
        out.push(byte ^ mask[index]);
    }
}

/// The mask as it stands `by` bytes further on.
#[inline]
pub(crate) fn advance(mask: [u8; 4], by: usize) -> [u8; 4] {
    let mut advanced = mask;
    advanced.rotate_left(by % 4);
    advanced
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

    fn slowly(data: &[u8]) -> Vec<u8> {
        data.iter().enumerate().map(|(index, byte)| byte ^ MASK[index % 4]).collect()
    }

    #[test]
    fn equals_the_definition_at_every_length() {
        let data: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(7)).collect();
        for length in 0..data.len() {
            let mut masked = data[..length].to_vec();
            apply(MASK, &mut masked);
            assert_eq!(masked, slowly(&data[..length]), "{length} bytes");
        }
    }

    #[test]
    fn appending_keeps_its_phase_over_blocks() {
        for length in (0..=SMALL + 1).chain([BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5]) {
            let data: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
            let mut out = b"before".to_vec();
            append(MASK, &data, &mut out);
            assert_eq!(out[6..], slowly(&data), "{length} bytes");
        }
    }

    #[test]
    fn goes_on_anywhere_inside_a_frame() {
        let data: Vec<u8> = (0..41).collect();
        for cut in 0..=data.len() {
            let mut masked = data.clone();
            let (left, right) = masked.split_at_mut(cut);
            apply(MASK, left);
            apply(advance(MASK, cut), right);
            assert_eq!(masked, slowly(&data), "cut at {cut}");
        }
    }
}
