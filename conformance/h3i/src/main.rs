//! Malformed HTTP/3 toward a server, by h3i: one connection for each case, and what the server made of it.
//!
//! Knows what the RFCs want of a server. Must not know whose server it is.
//!
//! Each line says `passed` or `failed`, the case and what came. Exit code 0: all passed; 1: not; 2: usage.

mod cases;
mod said;

use std::process::ExitCode;

use cases::{Case, Wanted};
use h3i::actions::h3::{Action, WaitType};
use h3i::client::connection_summary::ConnectionSummary;
use h3i::client::sync_client;
use h3i::config::Config;
use h3i::frame::H3iFrame;
use h3i::quiche::ConnectionError;

use said::{ErrorCode, REQUEST};

const USAGE: &str = "usage: wiretrial-h3i IP:PORT";
/// For how long nothing may happen until a case is over, milliseconds.
const PATIENCE_MS: u64 = 1_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut failed = 0;
    for case in cases::all(address) {
        let came = came(address, case.actions.clone());
        let is_right = came.as_ref().is_ok_and(|came| case.wants(came));
        let told = came.map_or_else(|error| error, |came| came.to_string());
        let verdict = if is_right { "passed" } else { "failed" };
        failed += u32::from(!is_right);
        println!("{verdict}\t{}\t{}\t{told}", case.section, case.what);
    }
    ExitCode::from(u8::from(failed > 0))
}

/// What a server made of it.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    /// The connection ended with this code.
    Closed(u64),
    /// The stream of the request did.
    Reset(u64),
    /// The request was answered so.
    Status(String),
    /// Nothing was said about it.
    Nothing,
}

impl std::fmt::Display for Came {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Closed(code) => write!(f, "connection closed with {}", ErrorCode::name(*code)),
            Self::Reset(code) => write!(f, "stream reset with {}", ErrorCode::name(*code)),
            Self::Status(status) => write!(f, "answered with {status}"),
            Self::Nothing => f.write_str("nothing came"),
        }
    }
}

impl Case {
    fn wants(&self, came: &Came) -> bool {
        match (self.wanted, came) {
            (Wanted::Closed(code), Came::Closed(with)) => code as u64 == *with,
            // An endpoint may treat what is wrong with a stream as an error of the connection (RFC 9114 section 8).
            (Wanted::Reset(code), Came::Reset(with) | Came::Closed(with)) => code as u64 == *with,
            // A server may answer what is malformed before it resets the stream (RFC 9114 section 4.1.2).
            (Wanted::Reset(_), Came::Status(status)) => status.starts_with('4'),
            (Wanted::Answered, Came::Status(status)) => status == "200",
            _ => false,
        }
    }
}

fn came(address: &str, mut actions: Vec<Action>) -> Result<Came, String> {
    actions.push(Action::FlushPackets);
    let wait = WaitType::WaitDuration(std::time::Duration::from_millis(PATIENCE_MS / 4));
    actions.push(Action::Wait { wait_type: wait });
    let error =
        ConnectionError { is_app: true, error_code: ErrorCode::NoError as u64, reason: vec![] };
    actions.push(Action::ConnectionClose { error });
    let config = Config::new()
        .with_host_port(address.to_owned())
        .with_idle_timeout(PATIENCE_MS)
        .verify_peer(false)
        .build()
        .map_err(|error| error.to_string())?;
    let summary =
        sync_client::connect(config, actions, None).map_err(|error| format!("{error:?}"))?;
    Ok(told(&summary))
}

fn told(summary: &ConnectionSummary) -> Came {
    if let Some(error) = summary.conn_close_details.peer_error() {
        return Came::Closed(error.error_code);
    }
    let frames = summary.stream_map.stream(REQUEST);
    let reset = frames.iter().find_map(|frame| match frame {
        H3iFrame::ResetStream(reset) => Some(Came::Reset(reset.error_code)),
        _ => None,
    });
    let status = || {
        let head = summary.stream_map.headers_on_stream(REQUEST).into_iter().next()?;
        let status = head.status_code()?.clone();
        Some(Came::Status(String::from_utf8_lossy(&status).into_owned()))
    };
    reset.or_else(status).unwrap_or(Came::Nothing)
}
