//! Observations of this machine, of real processes and of made-up file systems.

mod any_text;
mod common;
mod layouts;
mod limits;
mod lines;
mod parsers;
mod trees;
