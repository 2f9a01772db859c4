//! What the peer may send, and for how long it had no more of that; what became of our own content.
//!
//! Knows bytes and the instants that it is told; must not know what is sent, nor read a clock.
//!
//! Whether a peer waits for us can't be seen from our account alone: a window is widened as soon as
//! half of it is used, and the peer hears of that half a round trip later. So it is remembered what the
//! peer could send without having heard. Where it has sent exactly that, sooner than it could have
//! heard, it waits from then on until more comes.

/// What came in the way of messages on one connection. Times are nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Http2Use {
    /// The peer took its leave (GOAWAY).
    pub goaways: u64,
    /// Messages of ours whose content had to wait until the peer allowed more.
    pub sends_held: u64,
    /// For how long it waited for its stream's window, over all of these messages.
    pub held_by_stream_ns: u64,
    /// For how long it waited for the connection's window alone, over all of these messages.
    pub held_by_connection_ns: u64,
    /// How often a message of the peer's had used up what we allow on a stream.
    pub streams_exhausted: u64,
    /// For how long, over all of these messages.
    pub stream_exhausted_ns: u64,
    /// How often all messages together had used up what we allow on a connection.
    pub connections_exhausted: u64,
    /// For how long.
    pub connection_exhausted_ns: u64,
}

impl Http2Use {
    /// A message of the peer's waited so long for its stream's window; 0: it did not.
    #[inline]
    pub(super) fn waited_for_stream(&mut self, waited: u64) {
        self.streams_exhausted += u64::from(waited > 0);
        self.stream_exhausted_ns += waited;
    }

    /// The peer waited so long for the connection's window; 0: it did not.
    #[inline]
    pub(super) fn waited_for_connection(&mut self, waited: u64) {
        self.connections_exhausted += u64::from(waited > 0);
        self.connection_exhausted_ns += waited;
    }
}

/// The instants that a connection is told, nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instants {
    /// The present, as far as it was told.
    pub(super) now: u64,
    /// When our settings went out.
    pub(super) asked: u64,
    /// From then to the peer's word that it has them.
    pub(super) round_trip: u64,
}

impl Default for Instants {
    fn default() -> Self {
        Self { now: 0, asked: 0, round_trip: u64::MAX }
    }
}

/// What the peer may send, on a stream or on all of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allowance {
    /// Bytes.
    left: u32,
    /// What came beyond it, from a peer that did not know of it yet.
    overdrawn: u32,
    /// Of what is left, what it may send without having heard that it was allowed more.
    unheard: u32,
    /// When it was allowed more.
    widened: u64,
    /// Since when it has nothing left of what it can have heard of.
    exhausted: Option<u64>,
}

/// The peer sends more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

impl Allowance {
    pub(super) fn new(bytes: u32) -> Self {
        Self { left: bytes, ..Self::default() }
    }

    pub(super) fn left(&self) -> u32 {
        self.left
    }

    /// The peer sends so many bytes. Gives how long it waited before it could, as far as it did.
    #[inline]
    pub(super) fn take(&mut self, length: u32, instants: &Instants) -> Result<u64, TooMuch> {
        self.left = self.left.checked_sub(length).ok_or(TooMuch)?;
        if self.unheard == 0 && self.exhausted.is_none() {
            return Ok(0);
        }
        Ok(self.look(length, instants))
    }

    /// The same of a peer that has not heard yet how little it is allowed, and may send so much more.
    ///
    /// # Errors
    /// It is too much all the same.
    #[cold]
    pub(super) fn overdraw(&mut self, length: u32, most: u32) -> Result<(), TooMuch> {
        self.overdrawn += length - std::mem::take(&mut self.left);
        if self.overdrawn > most { Err(TooMuch) } else { Ok(()) }
    }

    /// What it must be allowed to have all of its window again.
    pub(super) fn missing(&self, whole: u32) -> u32 {
        whole - self.left + self.overdrawn
    }

    #[cold]
    fn look(&mut self, length: u32, instants: &Instants) -> u64 {
        let waited = self.over(instants);
        let is_all = length > 0 && length == self.unheard;
        self.unheard = self.unheard.saturating_sub(length);
        // Later than that it has heard, and goes on when it likes.
        if is_all && instants.now - self.widened < instants.round_trip {
            self.exhausted = Some(instants.now);
        }
        waited
    }

    /// The peer is allowed all of its window again.
    pub(super) fn widen(&mut self, whole: u32, instants: &Instants) {
        self.unheard = std::mem::replace(&mut self.left, whole);
        self.overdrawn = 0;
        self.widened = instants.now;
        if self.unheard == 0 {
            self.exhausted = Some(instants.now);
        }
    }

    /// A wait, if there is one, ends; after so long.
    pub(super) fn over(&mut self, instants: &Instants) -> u64 {
        self.exhausted.take().map_or(0, |since| instants.now - since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now: u64) -> Instants {
        Instants { now, asked: 0, round_trip: 100 }
    }

    #[test]
    fn a_peer_waits_that_sends_all_it_can_know_of_sooner_than_it_can_hear() {
        let mut window = Allowance::new(1000);
        assert_eq!(window.take(600, &at(10)), Ok(0));
        window.widen(1000, &at(10));
        assert_eq!(window.take(300, &at(20)), Ok(0));
        assert_eq!(window.take(100, &at(30)), Ok(0));
        assert_eq!(window.take(200, &at(130)), Ok(100));
        assert_eq!(window.left(), 400);
    }

    #[test]
    fn a_peer_that_has_heard_does_not_wait() {
        let mut window = Allowance::new(1000);
        assert_eq!(window.take(600, &at(10)), Ok(0));
        window.widen(1000, &at(10));
        // One frame reaches from before that limit to behind it: it has heard.
        assert_eq!(window.take(500, &at(20)), Ok(0));
        window.widen(1000, &at(20));
        assert_eq!(window.take(500, &at(120)), Ok(0), "slow, and it has heard by then");
        assert_eq!(window.take(500, &at(500)), Ok(0));
    }

    #[test]
    fn a_frame_as_long_as_the_window_leaves_nothing() {
        let mut window = Allowance::new(1000);
        assert_eq!(window.take(1000, &at(10)), Ok(0));
        window.widen(1000, &at(10));
        assert_eq!(window.take(1000, &at(60)), Ok(50));
        window.widen(1000, &at(60));
        assert_eq!((window.over(&at(75)), window.over(&at(80))), (15, 0));
        assert_eq!(window.take(1001, &at(80)), Err(TooMuch));
    }

    #[test]
    fn a_wait_may_follow_a_wait() {
        let mut window = Allowance::new(1000);
        assert_eq!(window.take(500, &at(0)), Ok(0));
        window.widen(1000, &at(0));
        assert_eq!(window.take(500, &at(1)), Ok(0));
        window.widen(1000, &at(1));
        assert_eq!(window.take(500, &at(101)), Ok(100), "it had heard by then");
        window.widen(1000, &at(101));
        assert_eq!(window.take(500, &at(102)), Ok(0));
        assert_eq!(window.over(&at(105)), 3);
    }
}
