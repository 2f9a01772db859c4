//! What comes on the streams of a connection, in order. Knows streams; must not know what is on them.

use crate::cuts::cut;

/// One thing that happens to a stream.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// Its number.
    pub stream: u64,
    /// What comes on it.
    pub bytes: &'a [u8],
    /// What happens.
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bytes come; nothing behind them, where they end it.
    Bytes { fin: bool },
    /// The peer gives up what it sends.
    Reset,
    /// It does not want what we send.
    Stop,
}

impl Piece<'_> {
    /// Why it was given up, or is not wanted.
    pub fn code(&self) -> u64 {
        0x100 + u64::from(self.bytes.first().copied().unwrap_or_default())
    }
}

/// Pieces as a fuzz target's input says them. Nothing comes on a stream behind its end.
pub fn pieces(mut input: &[u8]) -> Vec<Piece<'_>> {
    let (mut all, mut over) = (Vec::new(), Vec::new());
    while let [head, length, rest @ ..] = input {
        let (bytes, behind) = rest.split_at(rest.len().min(usize::from(*length)));
        input = behind;
        let stream = u64::from(head & 0x1f);
        let kind = match head >> 5 {
            7 => Kind::Reset,
            6 => Kind::Stop,
            flags => Kind::Bytes { fin: flags & 1 == 1 },
        };
        if kind != Kind::Stop && over.contains(&stream) {
            continue;
        }
        if matches!(kind, Kind::Reset | Kind::Bytes { fin: true }) {
            over.push(stream);
        }
        all.push(Piece { stream, bytes, kind });
    }
    all
}

/// The same, with what comes on each stream cut at these distances.
pub fn cut_each<'a>(all: &[Piece<'a>], distances: &[u8]) -> Vec<Piece<'a>> {
    let mut cut_up = Vec::new();
    for &piece in all {
        let Kind::Bytes { fin } = piece.kind else {
            cut_up.push(piece);
            continue;
        };
        let bytes = cut(piece.bytes, distances);
        let last = bytes.len() - 1;
        cut_up.extend(bytes.into_iter().enumerate().map(|(place, bytes)| Piece {
            bytes,
            kind: Kind::Bytes { fin: fin && place == last },
            ..piece
        }));
    }
    cut_up
}
