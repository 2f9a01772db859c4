//! Clients of two libraries of QUIC that keep requests of HTTP/3 in flight, and say how many were answered.
//!
//! Knows what is asked; must not know the libraries. They are what the load generator is measured
//! against, and as their own examples are: one task for each request in flight, one thread.

mod quinn_h3;
mod s2n;

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tokio::task::LocalSet;

const USAGE: &str =
    "usage: wiretrial-quic-load quinn|s2n-quic URL CA_FILE CONNECTIONS STREAMS SECONDS";

type Failure = Box<dyn Error + Send + Sync>;

/// What both are asked: GET of a URL whose host is an address.
struct Asked {
    url: String,
    address: SocketAddr,
    path: String,
    authority: PathBuf,
    connections: usize,
    streams: usize,
    duration: Duration,
}

impl Asked {
    fn parse(words: &[String]) -> Option<Self> {
        let [url, authority, numbers @ ..] = words else { return None };
        let rest = url.strip_prefix("https://")?;
        let (host, path) = rest.split_once('/')?;
        let numbers: Vec<usize> =
            numbers.iter().map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let &[connections, streams, seconds] = numbers.as_slice() else { return None };
        Some(Self {
            url: url.clone(),
            address: host.parse().ok()?,
            path: format!("/{path}"),
            authority: authority.into(),
            connections,
            streams,
            duration: Duration::from_secs(seconds as u64),
        })
    }

    /// The name that its certificate has to have.
    fn server_name(&self) -> String {
        self.address.ip().to_string()
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = match words.split_first() {
        Some((library, rest)) => Asked::parse(rest).map(|asked| (library.as_str(), asked)),
        None => None,
    };
    let Some((library @ ("quinn" | "s2n-quic"), asked)) = asked else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match messages(library, &asked) {
        Ok(messages) => {
            println!("{{\"messages\": {messages}}}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("wiretrial-quic-load: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn messages(library: &str, asked: &Asked) -> Result<u64, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tasks = LocalSet::new();
    runtime.block_on(tasks.run_until(async {
        match library {
            "quinn" => quinn_h3::messages(asked).await,
            _ => s2n::messages(asked).await,
        }
    }))
}
