//! What a run asks of the machine beside the time: what it has cost so far.
//!
//! Knows which figures there are; must not know what is made of them. A simulated run has a
//! machine of its own, so that the same seed gives the same snapshots.

use wiretrial_net::clock::monotonic_identity;
use wiretrial_net::machine;

use crate::clock::{Clock, Monotonic};

/// A clock, and the cost of what runs under it.
pub(crate) trait Machine: Clock + Clone {
    /// CPU time of the calling thread so far, nanoseconds.
    fn thread_cpu_ns(&self) -> u64;
    /// Time that the calling thread was ready to run but had no CPU, nanoseconds; 0 where nobody tells.
    fn thread_run_queue_ns(&self) -> u64;
    /// CPU time of the process so far, nanoseconds: in user mode and in the kernel.
    fn process_cpu_ns(&self) -> (u64, u64);
    /// The most memory that the process has held, bytes.
    fn peak_rss_bytes(&self) -> u64;
    /// What its clock is called, by which its instants are known to be comparable with others, and what it
    /// said at offset 0 of the run, nanoseconds. Empty: they are comparable with none.
    fn identity(&self) -> (String, u64);
}

impl Machine for Monotonic {
    fn thread_cpu_ns(&self) -> u64 {
        machine::thread_cpu_ns()
    }

    fn thread_run_queue_ns(&self) -> u64 {
        machine::thread_run_queue_ns().unwrap_or(0)
    }

    fn process_cpu_ns(&self) -> (u64, u64) {
        machine::process_cpu()
    }

    fn peak_rss_bytes(&self) -> u64 {
        machine::peak_rss_bytes()
    }

    fn identity(&self) -> (String, u64) {
        (monotonic_identity(), self.origin())
    }
}
