//! The engine's clients and its server, as suites want to meet them.
//!
//! Over WebSocket it knows the suite's three addresses: how many cases there are, one case, the
//! report. In a case it answers every message with the same message, until the suite closes. Over
//! HTTP/2 the suite starts it for each case. Of gRPC the suite says on the standard input what calls
//! it wants, or what server. Must not know what a case is about, nor whether it went well: the suite
//! judges.
//!
//! Usage: wiretrial-testee IP:PORT AGENT, http2 URL, or grpc client|server

mod conversation;
mod grpc;
mod http2;
mod line;

use std::env;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;

use conversation::Client;
use line::Failed;

const USAGE: &str = "usage: wiretrial-testee IP:PORT AGENT, http2 URL, or grpc client|server";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [suite, more] = &arguments[..] else {
        return say(USAGE, 2);
    };
    let ran = if suite == "http2" {
        http2::ask(more)
    } else if suite == "grpc" {
        match more.as_str() {
            "client" => grpc::call(),
            "server" => grpc::serve(),
            _ => return say(USAGE, 2),
        }
    } else if let Ok(address) = suite.parse() {
        run(address, more)
    } else {
        return say(&format!("{suite} is no address: give IP:PORT, as 127.0.0.1:9001"), 2);
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => say(&error.to_string(), 1),
    }
}

/// Every case that the suite offers, then the report.
fn run(suite: SocketAddr, agent: &str) -> Result<(), Failed> {
    let mut client = Client::new(suite)?;
    let cases: u32 = count(&client.read("/getCaseCount")?)?;
    for case in 1..=cases {
        client.echo(&format!("/runCase?case={case}&agent={agent}"))?;
    }
    client.echo(&format!("/updateReports?agent={agent}"))
}

fn count(text: &[u8]) -> Result<u32, Failed> {
    let count = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
    count.ok_or(Failed::NoCount)
}

fn say(line: &str, code: u8) -> ExitCode {
    // Without a standard error there is nobody to tell.
    let _ = writeln!(io::stderr(), "wiretrial-testee: {line}");
    ExitCode::from(code)
}
