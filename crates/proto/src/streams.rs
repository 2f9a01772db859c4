//! The streams that are open, by their numbers.
//!
//! Knows how one is found; must not know what is kept of it.
//!
//! Numbers grow, and streams end in any order, one of them perhaps hours after all that began with
//! it. So it is a table with open addressing: one look in nearly all cases, whoever else is open, and
//! memory for those that are open at once.

/// What has the number of a stream.
pub(crate) trait Identified {
    /// Its number; 0: nothing stands here.
    fn id(&self) -> u32;

    /// Nothing stands here any more, nor holds memory.
    fn vacate(&mut self);
}

/// Things by the number of their stream.
#[derive(Debug)]
pub(crate) struct Streams<T> {
    /// A power of two, at least an eighth of them empty; none before the first.
    places: Vec<T>,
    count: usize,
}

impl<T> Default for Streams<T> {
    fn default() -> Self {
        Self { places: Vec::new(), count: 0 }
    }
}

impl<T: Identified + Default> Streams<T> {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        let place = self.place(id)?;
        self.places.get_mut(place)
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        let place = self.place(id)?;
        self.places.get(place)
    }

    /// Adds one whose number is not there yet.
    #[inline]
    pub(crate) fn insert(&mut self, mut one: T) {
        debug_assert!(one.id() != 0 && self.place(one.id()).is_none());
        if 8 * (self.count + 1) > 7 * self.places.len() {
            self.grow();
        }
        self.count += 1;
        let mut place = self.home(one.id());
        while self.places[place].id() != 0 {
            // They stand in the order of their first places: who is farther from its own goes first.
            if self.distance(place) < self.distance_of(one.id(), place) {
                std::mem::swap(&mut self.places[place], &mut one);
            }
            place = self.next(place);
        }
        self.places[place] = one;
    }

    /// Takes out one, of which what is needed is taken along.
    #[inline]
    pub(crate) fn remove<R>(&mut self, id: u32, take: impl FnOnce(&mut T) -> R) -> Option<R> {
        let place = self.place(id)?;
        Some(self.remove_at(place, take))
    }

    /// The same by where it stands.
    #[inline]
    fn remove_at<R>(&mut self, place: usize, take: impl FnOnce(&mut T) -> R) -> R {
        let one = &mut self.places[place];
        let taken = take(one);
        one.vacate();
        self.count -= 1;
        // Whoever could not stand in its first place moves up, so that a search may stop at an empty place.
        // Behind one that does, all are where they would be anyway.
        let (mut hole, mut next) = (place, self.next(place));
        while self.places[next].id() != 0 && self.distance(next) > 0 {
            self.places.swap(hole, next);
            (hole, next) = (next, self.next(next));
        }
        taken
    }

    /// All of them, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter(|one| one.id() != 0)
    }

    /// All of them, in no order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().filter(|one| one.id() != 0)
    }

    /// Where it stands, until one is added or removed.
    #[inline]
    fn place(&self, id: u32) -> Option<usize> {
        if self.places.is_empty() || id == 0 {
            return None;
        }
        let mut place = self.home(id);
        loop {
            match self.places[place].id() {
                0 => return None,
                found if found == id => return Some(place),
                // It would stand before this one.
                _ if self.distance(place) < self.distance_of(id, place) => return None,
                _ => place = self.next(place),
            }
        }
    }

    /// Where it would stand if nobody else did. One side's numbers are all odd, or all even.
    #[inline]
    fn home(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.places.len() - 1)
    }

    #[inline]
    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    /// How far what stands at a place is from its first one.
    #[inline]
    fn distance(&self, place: usize) -> usize {
        self.distance_of(self.places[place].id(), place)
    }

    #[inline]
    fn distance_of(&self, id: u32, place: usize) -> usize {
        place.wrapping_sub(self.home(id)) & (self.places.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let size = (2 * self.places.len()).max(4);
        let mut wider = Vec::with_capacity(size);
        wider.resize_with(size, T::default);
        let before = std::mem::replace(&mut self.places, wider);
        self.count = 0;
        for one in before.into_iter().filter(|one| one.id() != 0) {
            self.insert(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, Default, Clone, PartialEq, Eq)]
    struct One {
        id: u32,
        value: u64,
    }

    thread_local! {
        /// How often a number was looked at.
        static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    impl Identified for One {
        fn id(&self) -> u32 {
            LOOKS.set(LOOKS.get() + 1);
            self.id
        }

        fn vacate(&mut self) {
            self.id = 0;
        }
    }

    #[test]
    fn it_is_a_map_whatever_ends_first() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut streams, mut model) = (Streams::default(), BTreeMap::new());
            let mut next = 1;
            for step in 0..2_000_u64 {
                if rng.bool() && model.len() < 40 {
                    let one = One { id: next, value: step };
                    streams.insert(one.clone());
                    model.insert(next, one);
                    next += 2 * rng.u32(1..20);
                } else if let Some((&id, _)) = model.iter().nth(rng.usize(..model.len().max(1))) {
                    assert_eq!(streams.remove(id, |one| one.clone()), model.remove(&id));
                }
                let id = rng.u32(1..=next);
                assert_eq!(streams.get(id), model.get(&id), "step {step}");
                assert_eq!(streams.get_mut(id).map(|one| one.id), model.get(&id).map(|it| it.id));
                assert_eq!(streams.len(), model.len());
            }
            let mut all: Vec<_> = streams.iter().cloned().collect();
            all.sort_unstable_by_key(|one| one.id);
            assert!(all.iter().eq(model.values()));
            assert!(streams.places.len() <= 256, "memory is for those that are open");
        }
    }

    #[test]
    fn none_of_those_that_follow_one_another_is_in_the_way_of_another() {
        const MANY: u32 = 1_000;
        let mut streams = Streams::default();
        (0..MANY).for_each(|place| streams.insert(One { id: 2 * place + 1, value: 0 }));
        let places = streams.places.len() as u32;
        for id in (0..MANY).map(|place| 2 * place + 1) {
            let before = LOOKS.get();
            assert_eq!(streams.remove(id, |one| one.id), Some(id));
            // It would stand where another one does that stays.
            assert_eq!(streams.get(id + 2 + 2 * places), None);
            streams.insert(One { id: id + 2 * MANY, value: 0 });
            assert!(LOOKS.get() - before < 20, "{} looks", LOOKS.get() - before);
        }
        assert_eq!(streams.len(), MANY as usize);
    }
}
