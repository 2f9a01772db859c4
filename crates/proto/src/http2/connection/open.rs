//! The streams that are open: those that are about to be over with one whole reply, and all others.
//!
//! Knows how each is kept, and when it is touched; must not know frames.
//!
//! Nearly every reply comes whole, or its head and then all of its content, and its stream is over with it. Until
//! something else comes, such a stream needs what was asked on it and hardly more: it stands in a queue, in about half of
//! the memory, and is found there by counting. With anything else that comes of it alone it goes to the table
//! of the others.

use std::collections::VecDeque;
use std::mem;

use super::{Heard, Stream};
use crate::http2::allowance::Allowance;
use crate::streams::Streams;

/// Places of streams that have left the queue, which are kept beside as many as stand there.
const MOST_IDLE: usize = 64;

/// All streams that are open; `M` is what is kept of each message.
#[derive(Debug)]
pub(super) struct OpenStreams<M> {
    /// Those of which something has come, and those that the peer opened.
    pub(super) touched: Streams<Stream<M>>,
    /// Those on which all of ours has gone and of which nothing has come but a head, in the order of their numbers.
    /// The first one stands, if there is one.
    queue: VecDeque<Queued<M>>,
    /// The number of the first one.
    first: u32,
    /// How many of them stand.
    standing: usize,
    /// What we may send on a new stream, bytes.
    pub(super) send_window: u32,
    /// The same of the peer.
    stream_window: u32,
}

/// A stream in the queue.
#[derive(Debug, Default)]
struct Queued<M> {
    heard: Heard<M>,
    /// Content of ours that has gone, bytes.
    sent: u32,
    /// Else it has left, or never stood here.
    stands: bool,
}

impl<M: Default> OpenStreams<M> {
    pub(super) fn new(send_window: u32, stream_window: u32) -> Self {
        Self {
            touched: Streams::default(),
            queue: VecDeque::new(),
            first: 0,
            standing: 0,
            send_window,
            stream_window,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.touched.len() + self.standing
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.standing == 0 && self.touched.is_empty()
    }

    /// Is this one open?
    #[inline]
    pub(super) fn has(&self, id: u32) -> bool {
        self.queued(id).is_some() || self.touched.get(id).is_some()
    }

    /// Opens one on which more is to be sent, or that the peer has begun.
    #[inline]
    pub(super) fn open(&mut self, id: u32, message: M) {
        let (send_window, stream_window) = (self.send_window.into(), self.stream_window);
        self.touched.insert(Stream {
            id,
            heard: Heard::nothing(message),
            send_window,
            allowance: Allowance::new(stream_window),
            ..Stream::default()
        });
    }

    /// Opens one on which all of ours has gone, with so many bytes of content. Its number is higher than any before.
    #[inline]
    pub(super) fn ask(&mut self, id: u32, message: M, sent: u32) {
        let places = self.queue.len();
        if places == 0 {
            self.first = id;
        } else if id != self.first + 2 * places as u32 || places > 2 * self.standing + MOST_IDLE {
            self.make_way(id);
        }
        self.queue.push_back(Queued::new(message, sent));
        self.standing += 1;
    }

    /// The same of so many, whose numbers follow one another.
    #[inline]
    pub(super) fn ask_several(
        &mut self,
        id: u32,
        count: u32,
        message: impl Fn(u32) -> M,
        sent: u32,
    ) {
        if count == 0 {
            return;
        }
        self.ask(id, message(0), sent);
        self.queue.extend((1..count).map(|place| Queued::new(message(place), sent)));
        self.standing += count as usize - 1;
    }

    /// Touches it, as it is to be read or changed.
    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stream<M>> {
        if let Some((place, _)) = self.queued(id) {
            self.touch(place);
        }
        self.touched.get_mut(id)
    }

    /// Takes out one, of which what is needed is taken along.
    #[inline]
    pub(super) fn remove<R>(
        &mut self,
        id: u32,
        take: impl FnOnce(&mut Stream<M>) -> R,
    ) -> Option<R> {
        if let Some((place, _)) = self.queued(id) {
            self.touch(place);
        }
        self.touched.remove(id, take)
    }

    /// What is kept of each, with its number, in no order.
    pub(super) fn messages(&self) -> impl Iterator<Item = (u32, &M)> {
        let queued = (self.first..).step_by(2).zip(&self.queue);
        let queued = queued.filter(|(_, one)| one.stands).map(|(id, one)| (id, &one.heard.message));
        self.touched.iter().map(|stream| (stream.id, &stream.heard.message)).chain(queued)
    }

    /// Where this one stands in the queue, until one is added or leaves, and what came on it.
    #[inline]
    pub(super) fn queued(&self, id: u32) -> Option<(usize, &Heard<M>)> {
        // The numbers of the other side are half of all numbers away.
        let place = id.wrapping_sub(self.first).rotate_right(1) as usize;
        self.queue.get(place).filter(|one| one.stands).map(|one| (place, &one.heard))
    }

    /// This came on the stream at a [place](Self::queued).
    #[inline]
    pub(super) fn note(&mut self, place: usize, heard: Heard<M>) {
        self.queue[place].heard = heard;
    }

    /// The stream at a [place](Self::queued) is over.
    #[inline]
    pub(super) fn leave(&mut self, place: usize) {
        self.standing -= 1;
        if place > 0 {
            self.queue[place].stands = false;
            return;
        }
        loop {
            self.queue.pop_front();
            self.first += 2;
            if self.queue.front().is_none_or(|one| one.stands) {
                break;
            }
        }
    }

    /// Something else comes of it.
    #[inline(never)]
    fn touch(&mut self, place: usize) {
        let id = self.first + 2 * place as u32;
        let Queued { heard, sent, .. } = mem::take(&mut self.queue[place]);
        self.leave(place);
        self.touched.insert(Stream {
            id,
            heard,
            send_window: i64::from(self.send_window) - i64::from(sent),
            allowance: Allowance::new(self.stream_window),
            ..Stream::default()
        });
    }

    /// Sees to it that this number follows the last one, and that those that wait long do not keep the places of
    /// all that came after them.
    #[cold]
    fn make_way(&mut self, id: u32) {
        let left_out = (id - self.first) as usize / 2 - self.queue.len();
        while !self.queue.is_empty()
            && (left_out > MOST_IDLE || self.queue.len() > 2 * self.standing + MOST_IDLE)
        {
            self.touch(0);
        }
        if self.queue.is_empty() {
            self.first = id;
        } else {
            self.queue.resize_with(self.queue.len() + left_out, Queued::default);
        }
    }
}

impl<M> Queued<M> {
    #[inline]
    fn new(message: M, sent: u32) -> Self {
        Self { heard: Heard::nothing(message), sent, stands: true }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What is known of each stream, without touching it.
    fn kept(streams: &OpenStreams<u64>) -> BTreeMap<u32, u64> {
        streams.messages().map(|(id, &message)| (id, message)).collect()
    }

    #[test]
    fn it_is_a_map_whatever_is_touched_and_whatever_ends_first() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut streams, mut model) = (OpenStreams::new(1000, 500), BTreeMap::new());
            let mut next = 1;
            for step in 0..2_000_u64 {
                let some = model.keys().nth(rng.usize(..model.len().max(1))).copied();
                match (rng.u8(..8), some) {
                    (0..4, _) if model.len() < 40 => {
                        // Now and then numbers are left out: a few, or many.
                        next += [0, 2, 2 * rng.u32(..200)][rng.usize(..30).saturating_sub(27)];
                        let several = rng.u32(..4);
                        match rng.u8(..8) {
                            0 => streams.open(next, step),
                            1 => streams.ask_several(next, several, |it| step + u64::from(it), 7),
                            _ => streams.ask(next, step, 7),
                        }
                        let opened = streams.len() - model.len();
                        model
                            .extend((0..opened as u64).map(|it| (next + 2 * it as u32, step + it)));
                        next += 2 * opened as u32;
                    }
                    (4, Some(id)) => {
                        let stream = streams.get_mut(id).expect("it is open");
                        assert_eq!((stream.id, stream.heard.message), (id, model[&id]));
                        assert!(matches!(stream.send_window, 993 | 1000));
                        assert_eq!(stream.allowance.left(), 500);
                    }
                    (5, Some(id)) => {
                        assert_eq!(streams.remove(id, |it| it.heard.message), model.remove(&id));
                    }
                    (_, Some(id)) => {
                        if let Some((place, heard)) = streams.queued(id) {
                            assert_eq!(model.remove(&id), Some(heard.message));
                            streams.leave(place);
                        }
                    }
                    _ => {}
                }
                let id = rng.u32(..=next);
                assert_eq!(streams.has(id), model.contains_key(&id), "{id} at step {step}");
                assert_eq!((streams.len(), streams.is_empty()), (model.len(), model.is_empty()));
                let places = streams.queue.len();
                assert!(places <= 2 * 43 + 2 * MOST_IDLE, "{places} places");
            }
            assert_eq!(kept(&streams), model);
        }
    }

    #[test]
    fn a_head_is_noted_in_the_queue_and_goes_to_the_table_with_its_stream() {
        for missing in [None, Some(0), Some(64), Some(u64::MAX)] {
            for is_touched in [false, true] {
                let mut streams = OpenStreams::new(1000, 500);
                streams.ask_several(1, 3, u64::from, 0);
                let (place, _) = streams.queued(3).expect("it stands");
                streams.note(place, Heard { message: 200, has_head: true, missing });
                if is_touched {
                    assert_eq!(streams.get_mut(3).map(|stream| stream.id), Some(3));
                }
                let queued = streams.queued(3).map(|(_, heard)| *heard);
                assert_eq!(queued.is_none(), is_touched);
                let found = queued.or_else(|| streams.remove(3, |stream| stream.heard));
                let Heard { message, has_head, missing: found } = found.expect("it is open");
                assert_eq!((message, has_head, found), (200, true, missing));
            }
        }
    }

    #[test]
    fn who_waits_long_keeps_no_place_of_those_that_came_after() {
        let mut streams = OpenStreams::new(0, 0);
        streams.ask(1, 0, 0);
        for id in (3..2_001).step_by(2) {
            streams.ask(id, u64::from(id), 0);
            let (place, _) = streams.queued(id).expect("it stands");
            streams.leave(place);
        }
        assert!(streams.queued(1).is_none(), "it has gone to the table");
        assert_eq!(kept(&streams), BTreeMap::from([(1, 0)]));
        assert!(streams.queue.len() <= MOST_IDLE + 1);
    }

    #[test]
    fn a_window_that_the_peer_sets_is_that_of_streams_that_stand() {
        let mut streams = OpenStreams::new(1000, 0);
        streams.ask(1, 0, 400);
        streams.send_window = 300;
        assert_eq!(streams.get_mut(1).map(|stream| stream.send_window), Some(-100));
    }
}
