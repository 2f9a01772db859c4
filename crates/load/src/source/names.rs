//! A member's name in a document, as something makes of it, without being copied.
//!
//! Knows how serde gives names. Must not know which names are looked for.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Visitor};

/// Reads a name: what does the function make of it?
pub(super) struct Named<F, T> {
    find: F,
    made: PhantomData<T>,
}

impl<F: FnOnce(&str) -> T, T> Named<F, T> {
    pub(super) const fn new(find: F) -> Self {
        Self { find, made: PhantomData }
    }
}

impl<'de, F: FnOnce(&str) -> T, T> DeserializeSeed<'de> for Named<F, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<T, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<F: FnOnce(&str) -> T, T> Visitor<'_> for Named<F, T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, found: &str) -> Result<T, E> {
        Ok((self.find)(found))
    }
}
