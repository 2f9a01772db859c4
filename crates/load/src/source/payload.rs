//! The payload of each message, by its sequence number.

use super::template::Template;
use crate::plan::PayloadPlan;

/// Payloads by sequence number. Each worker has its own, since the bytes are written in place.
#[derive(Debug, Clone)]
pub struct Payloads(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Fixed(Vec<u8>),
    List(Vec<Vec<u8>>),
    Template(Template),
}

impl Payloads {
    /// The payloads that a plan asks for.
    pub fn new(plan: &PayloadPlan) -> Self {
        Self(match plan {
            PayloadPlan::None => Kind::Fixed(Vec::new()),
            PayloadPlan::Fixed(bytes) => Kind::Fixed(bytes.clone()),
            PayloadPlan::List(list) => Kind::List(list.clone()),
            PayloadPlan::Sequence(length) => Kind::Template(Template::of_length(*length)),
            PayloadPlan::Template(text) => Kind::Template(Template::from_text(text)),
        })
    }

    /// The payload of the message with this number.
    pub fn get(&mut self, seq: u64) -> &[u8] {
        match &mut self.0 {
            Kind::Fixed(bytes) => bytes,
            Kind::List(list) => &list[(seq % list.len() as u64) as usize],
            Kind::Template(template) => template.write(seq),
        }
    }

    /// Length of the payload of the message with this number, bytes.
    pub fn length(&self, seq: u64) -> usize {
        match &self.0 {
            Kind::Fixed(bytes) => bytes.len(),
            Kind::List(list) => list[(seq % list.len() as u64) as usize].len(),
            Kind::Template(template) => template.len(),
        }
    }

    /// Length of the longest, bytes.
    pub fn longest(&self) -> usize {
        match &self.0 {
            Kind::Fixed(bytes) => bytes.len(),
            Kind::List(list) => list.iter().map(Vec::len).max().unwrap_or_default(),
            Kind::Template(template) => template.len(),
        }
    }

    /// Its length where all have the same one, bytes.
    pub fn fixed_length(&self) -> Option<usize> {
        match &self.0 {
            Kind::Fixed(bytes) => Some(bytes.len()),
            Kind::List(list) => {
                let first = list[0].len();
                list.iter().all(|bytes| bytes.len() == first).then_some(first)
            }
            Kind::Template(template) => Some(template.len()),
        }
    }
}
