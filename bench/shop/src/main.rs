//! A shop to be loaded in sessions: login, list, item, create; one thread, and faults put in on purpose.
//!
//! Knows arguments. It is what generators of load are compared on, and no part of what is shipped.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program of its own")]

mod api;
mod faults;
mod server;

use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;

use api::Api;
use faults::Faults;
use server::Server;

const USAGE: &str = "usage: wiretrial-shop IP:PORT [FAULT...]
  FAULT: total, leak, overload, slow; GET /planted says how often each was put in
  the first line printed is the address";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.split_first().and_then(|(address, faults)| {
        Some((address.parse::<SocketAddr>().ok()?, Faults::of(faults)?))
    });
    let Some((address, faults)) = wanted else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let served = TcpListener::bind(address).and_then(|listener| {
        println!("{}", listener.local_addr()?);
        Server::new(listener, Api::new(faults))?.serve()
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wiretrial-shop: {error}");
            ExitCode::FAILURE
        }
    }
}
