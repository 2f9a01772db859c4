//! Sockets, TLS and the machine, in one binary: each binary more is compiled with what all of them share,
//! and linked. What lowers a limit of its process, or counts its allocations, has one of its own.

#[path = "../common/mod.rs"]
mod common;

mod alpn;
mod congestion;
mod errors;
mod machine;
mod plain;
mod tls;
mod tls_faults;
mod waiting;
