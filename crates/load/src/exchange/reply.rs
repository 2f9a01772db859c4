//! A reply as it comes in, piece by piece, kept as far as it is to be told.
//!
//! Knows heads and content. Must not know what a right one is.

use crate::source::traffic::Codings;

/// The largest content that is kept whole to have its codings undone, bytes; a load looks at no more.
const MOST_DECODED: usize = 16 << 20;

/// What has come of a reply.
#[derive(Debug, Default)]
pub(super) struct Coming {
    pub(super) status: Option<u16>,
    pub(super) headers: Vec<(String, String)>,
    codings: Codings,
    /// Content so far, as it came, up to a limit.
    kept: Vec<u8>,
    /// Length of the content so far.
    length: u64,
    pub(super) is_whole: bool,
}

/// Content as it is told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) length: u64,
    pub(super) is_cut: bool,
}

impl Coming {
    pub(super) fn head<'f>(
        &mut self,
        status: u16,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8])>,
    ) {
        *self = Self { status: Some(status), ..Self::default() };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for (name, value) in fields {
            if name.eq_ignore_ascii_case(b"content-encoding") {
                self.codings.add(value);
            }
            self.headers.push((text(name), text(value)));
        }
    }

    /// A piece of the content, of which so much is told.
    pub(super) fn piece(&mut self, piece: &[u8], most: usize) {
        self.length += piece.len() as u64;
        let most = if self.codings.is_any() { MOST_DECODED.max(most) } else { most };
        let room = most.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// What is told of the content, so many bytes at most.
    pub(super) fn content(&self, most: usize) -> Content {
        let Self { kept, length, .. } = self;
        let mut content = Content { bytes: kept.clone(), length: *length, is_cut: !self.is_whole };
        if self.codings.is_any() {
            let mut decoded = Vec::new();
            let told = self.codings.undo(kept, &mut decoded, MOST_DECODED);
            // Of content that breaks off, what can be read of it; of what is none, as it came.
            if told.is_ok() || !decoded.is_empty() {
                content.length = decoded.len() as u64;
                content.is_cut |= told.is_err();
                content.bytes = decoded;
            }
        }
        content.bytes.truncate(most);
        content.is_cut |= (content.bytes.len() as u64) < content.length;
        content
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).expect("a Vec");
        encoder.finish().expect("a Vec")
    }

    fn told(coding: &str, pieces: &[&[u8]], most: usize, is_whole: bool) -> Content {
        let mut reply = Coming::default();
        let fields = [(b"Content-Encoding".as_slice(), coding.as_bytes())];
        reply.head(200, fields.into_iter().filter(|(_, value)| !value.is_empty()));
        for piece in pieces {
            reply.piece(piece, most);
        }
        reply.is_whole = is_whole;
        reply.content(most)
    }

    #[test]
    fn table_of_contents() {
        let text: Vec<u8> = (0..200_u8).flat_map(|byte| [b'a' + byte % 26; 3]).collect();
        let packed = gzip(&text);
        let (one, two) = packed.split_at(packed.len() / 2);
        let whole = |bytes: &[u8]| Content {
            bytes: bytes.to_vec(),
            length: bytes.len() as u64,
            is_cut: false,
        };
        assert_eq!(told("", &[b"ab", b"c"], 10, true), whole(b"abc"));
        assert_eq!(
            told("", &[b"ab", b"c"], 2, true),
            Content { bytes: b"ab".to_vec(), length: 3, is_cut: true }
        );
        assert_eq!(told("", &[b"ab"], 10, false), Content { is_cut: true, ..whole(b"ab") });
        assert_eq!(told("gzip", &[one, two], 1000, true), whole(&text));
        let cut = told("gzip", &[one, two], 5, true);
        assert_eq!((cut.bytes, cut.length, cut.is_cut), (text[..5].to_vec(), 600, true));
        assert_eq!(told("gzip", &[b"no gzip"], 1000, true), whole(b"no gzip"), "as it came");
        assert_eq!(told("odd", &[b"abc"], 1000, true), whole(b"abc"), "as it came");
        let part = told("gzip", &[one], 1000, false);
        assert!(part.is_cut && text.starts_with(&part.bytes));
    }
}
