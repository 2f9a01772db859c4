//! The line between the two: bytes in memory, of which each side gets a few at a time.
//!
//! Knows bytes and how they are cut. Must not know what they say.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use fastrand::Rng;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How long the pieces are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// A byte at a time.
    Bytes,
    /// A few.
    Few,
    /// As many as chance has it.
    Any,
    /// All that there is.
    All,
}

impl Pace {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        [Self::Bytes, Self::Few, Self::Any, Self::Any, Self::All][rng.usize(..5)]
    }

    /// So many of these bytes go next.
    pub(crate) fn cut(self, most: usize, rng: &mut Rng) -> usize {
        match self {
            Self::Bytes => most.min(1),
            Self::Few => rng.usize(..=most.min(40)),
            Self::Any => rng.usize(..=most),
            Self::All => most,
        }
    }
}

/// What is on its way.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// To h2.
    there: VecDeque<u8>,
    /// Of these it may have so many.
    let_through: usize,
    has_ended: bool,
    /// From h2.
    back: Vec<u8>,
    /// h2 has closed it.
    pub(crate) is_closed: bool,
}

/// The end of the line that h2 holds; a copy of it moves the bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line(Rc<RefCell<Wire>>);

impl Line {
    /// Lays bytes on their way to h2.
    pub(crate) fn send(&self, bytes: &mut Vec<u8>) {
        self.0.borrow_mut().there.extend(bytes.drain(..));
    }

    /// Nothing more is sent to h2.
    pub(crate) fn end(&self) {
        self.0.borrow_mut().has_ended = true;
    }

    /// Lets h2 have some more. How many: 0 where nothing moved.
    pub(crate) fn let_through(&self, pace: Pace, rng: &mut Rng) -> usize {
        let mut wire = self.0.borrow_mut();
        let more = pace.cut(wire.there.len() - wire.let_through, rng);
        wire.let_through += more;
        more
    }

    /// Some of what h2 said, behind what is there. How many bytes.
    pub(crate) fn take(&self, pace: Pace, rng: &mut Rng, into: &mut Vec<u8>) -> usize {
        let mut wire = self.0.borrow_mut();
        let count = pace.cut(wire.back.len(), rng);
        into.extend(wire.back.drain(..count));
        count
    }

    /// Has all that h2 said been taken?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().back.is_empty()
    }

    /// Nothing is on its way from h2, which sends nothing more.
    pub(crate) fn is_over(&self) -> bool {
        let wire = self.0.borrow();
        wire.is_closed && wire.back.is_empty()
    }
}

impl AsyncRead for Line {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut wire = self.0.borrow_mut();
        let count = wire.let_through.min(into.remaining());
        if count == 0 && !(wire.has_ended && wire.there.is_empty()) {
            return Poll::Pending;
        }
        let bytes: Vec<u8> = wire.there.drain(..count).collect();
        wire.let_through -= count;
        into.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().back.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow_mut().is_closed = true;
        Poll::Ready(Ok(()))
    }
}
