//! Truth on real sockets: the load generator against the reference server, in one process, with
//! delays, stalls and faults that are known. Only lower bounds and counts are asserted of times.

mod delays;
mod errors;
mod lifecycle;
mod rig;
mod sums;
