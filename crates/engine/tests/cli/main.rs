//! The binary as people and programs meet it: exit codes, one-line complaints, help, `run` and `stop`.

mod asked;
mod bad_input;
#[path = "../common/binary.rs"]
mod binary;
mod golden;
mod link;
mod long;
mod observe;
mod seam;
mod secrets;

use binary::{Respond, engine, run, text};
