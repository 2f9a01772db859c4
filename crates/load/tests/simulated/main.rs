//! Executors, pacers and the recorder under a simulated clock: what a stall does to each loop,
//! to the nanosecond. No sockets, no threads, no sleeping.

mod after_response;
mod closed_loop;
mod open_loop;
mod phased;
mod random_burst;
mod sums;
mod world;
