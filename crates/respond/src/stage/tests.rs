//! The stage under a simulated clock.

use super::*;

/// What comes out at each instant of a walk through time.
struct Walk {
    stage: Stage,
    out: Vec<u8>,
}

impl Walk {
    fn new() -> Self {
        Self { stage: Stage::new(true), out: Vec::new() }
    }

    fn reply(&mut self, due: u64, text: &str) {
        self.faulty(due, text, None);
    }

    fn faulty(&mut self, due: u64, text: &str, fault: impl Into<Option<FaultKind>>) {
        self.stage.begin(due, 1, fault.into());
        self.stage.add(text.as_bytes());
        self.stage.end();
    }

    #[track_caller]
    fn expect(&mut self, now: u64, text: &str) {
        self.expect_and(now, text, Released::Bytes);
    }

    #[track_caller]
    fn expect_and(&mut self, now: u64, text: &str, released: Released) {
        self.out.clear();
        assert_eq!(self.stage.release(now, &mut self.out), released);
        assert_eq!(String::from_utf8_lossy(&self.out), text);
    }

    #[track_caller]
    fn expect_empty(&self) {
        assert!(self.stage.is_idle());
        assert_eq!((self.stage.held(), self.stage.next_due()), (0, None));
    }
}

#[test]
fn replies_come_when_they_are_due() {
    let mut walk = Walk::new();
    walk.reply(100, "a");
    walk.reply(120, "b");
    walk.reply(120, "c");
    assert_eq!((walk.stage.held(), walk.stage.next_due()), (3, Some(100)));
    walk.expect(99, "");
    walk.expect(100, "a");
    assert_eq!(walk.stage.next_due(), Some(120));
    walk.expect(130, "bc");
    walk.expect_empty();
}

#[test]
fn a_reply_never_overtakes_a_slower_one() {
    let mut walk = Walk::new();
    walk.reply(200, "slow");
    walk.reply(110, "quick");
    walk.expect(150, "");
    walk.expect(200, "slowquick");
    walk.expect_empty();
}

#[test]
fn a_reply_in_pieces_goes_on_once_it_is_due() {
    let mut walk = Walk::new();
    walk.stage.begin(100, 1, None);
    walk.stage.add(b"one ");
    walk.expect(99, "");
    walk.expect(100, "one ");
    walk.stage.add(b"two ");
    walk.expect(101, "two ");
    assert!(!walk.stage.is_idle());
    walk.stage.end();
    walk.stage.add(b"between");
    walk.expect(102, "between");
    walk.expect_empty();
}

#[test]
fn the_end_waits_for_what_came_before_it() {
    let mut walk = Walk::new();
    walk.reply(100, "last");
    walk.stage.finish();
    walk.reply(100, "too late");
    walk.expect(99, "");
    walk.expect_and(100, "last", Released::Finish);
}

#[test]
fn a_swap_takes_the_next_reply_or_gives_up_when_due() {
    let mut walk = Walk::new();
    walk.reply(0, "a");
    walk.faulty(100, "b", FaultKind::Swap);
    walk.expect(50, "a");
    assert_eq!(walk.stage.next_due(), Some(100));
    walk.reply(120, "c");
    walk.expect(110, "");
    walk.expect(120, "cb");
    walk.faulty(130, "d", FaultKind::Swap);
    walk.expect(129, "");
    walk.expect(130, "c");
    walk.expect_empty();
}

#[test]
fn a_swap_without_a_previous_reply_is_owed() {
    let mut walk = Walk::new();
    walk.faulty(0, "a", FaultKind::Swap);
    walk.expect(1, "a");
    walk.reply(0, "b");
    walk.expect(2, "a");
    walk.expect_empty();
}

#[test]
fn a_slow_reply_holds_those_behind_it() {
    let mut walk = Walk::new();
    walk.faulty(100, "ab", FaultKind::Slow);
    walk.reply(100, "c");
    walk.expect(100, "a");
    assert_eq!((walk.stage.held(), walk.stage.next_due()), (2, Some(100 + SLOW_PACE)));
    walk.expect(100 + SLOW_PACE - 1, "");
    walk.expect(100 + SLOW_PACE, "bc");
    walk.expect_empty();
}

#[test]
fn silence_keeps_what_came_before_it() {
    let mut walk = Walk::new();
    walk.reply(100, "a");
    walk.faulty(0, "b", FaultKind::Silent);
    walk.reply(0, "c");
    walk.stage.finish();
    walk.expect(100, "a");
    walk.expect_empty();
}

#[test]
fn what_is_too_long_to_keep_is_not_kept() {
    let long = "x".repeat(WHOLE_REPLY + 1);
    for (fault, expected) in [
        (FaultKind::Truncate, Released::Finish),
        (FaultKind::Reset, Released::Reset),
        (FaultKind::Repeat, Released::Bytes),
        (FaultKind::Swap, Released::Bytes),
    ] {
        let mut walk = Walk::new();
        walk.stage.begin(0, 1, Some(fault));
        walk.stage.add(long.as_bytes());
        assert_eq!(walk.stage.release(0, &mut walk.out), expected, "{fault:?}");
        let whole = expected == Released::Bytes;
        assert_eq!(walk.out.len(), if whole { long.len() } else { long.len() / 2 }, "{fault:?}");
        walk.stage.add(b"rest");
        walk.stage.end();
        walk.expect_and(1, if whole { "rest" } else { "" }, expected);
        assert_eq!(walk.stage.held(), 0);
    }
}

#[test]
fn an_end_in_the_middle_of_a_reply_leaves_nothing_open() {
    let mut walk = Walk::new();
    walk.stage.begin(0, 1, Some(FaultKind::Repeat));
    walk.stage.add(b"begun");
    walk.stage.finish();
    walk.expect_and(0, "", Released::Finish);
    assert_eq!(walk.stage.held(), 0);
}
