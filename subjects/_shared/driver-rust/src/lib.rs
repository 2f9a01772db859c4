//! The loop of a client driver: warm-up, repetitions, a line of JSON for each.
//!
//! Knows the clock, the histogram and the contract in `subjects/_contract/README.md`; must not know
//! any library.

mod options;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde::Serialize;

pub use options::Options;

const LONGEST_NS: u64 = 60_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;
const MOST_FAILURES_IN_A_ROW: u32 = 10;

/// Whatever a library calls its errors.
pub type Failure = Box<dyn Error>;

/// A library's client, with one exchange in flight. Dropped, it ends its connection at once.
pub trait Client: Sized {
    /// What the library gives as a reply's content.
    type Reply: AsRef<[u8]>;

    /// Sends the message and returns the reply. Ends in an error when the timeout is over.
    fn exchange(&mut self, message: &Bytes) -> Result<Self::Reply, Failure>;

    /// Ends the connection in order.
    fn close(self) {}

    /// Connections that it opened so far.
    fn opened(&self) -> u64;
}

/// Runs the driver as the command line says; returns the exit code of the contract.
///
/// `open` makes a client, which connects where the library can do so without a request.
pub fn drive<C: Client>(
    name: &str,
    library: &str,
    schemes: &[&str],
    open: impl Fn(&Options) -> Result<C, Failure>,
) -> ExitCode {
    let options = match options::read(schemes, std::env::args().skip(1)) {
        Ok(options::Request::Drive(options)) => options,
        Ok(options::Request::Version) => {
            println!("{library}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("{name}: {problem}");
            return ExitCode::from(2);
        }
    };
    let driver = Loop {
        options: &options,
        library,
        open,
        client: None,
        opened_before: 0,
        failures_in_a_row: 0,
    };
    match driver.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{name}: {}", one_line(failure.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// The version of a crate, from the text of the program's Cargo.lock.
#[must_use]
pub fn locked_version<'a>(lock: &'a str, name: &str) -> &'a str {
    let entry = lock.split("[[package]]").find_map(|entry| {
        entry.trim_start().strip_prefix(&format!("name = \"{name}\"\nversion = \""))
    });
    entry.and_then(|rest| rest.split('"').next()).unwrap_or("of unknown version")
}

/// What is told of a repetition.
#[derive(Serialize)]
struct Repetition<'a> {
    schema: &'static str,
    version: u32,
    library: &'a str,
    repetition: u64,
    mode: &'static str,
    iterations: u64,
    errors: u64,
    first_error: Option<String>,
    connections: u64,
    wall_ns: u64,
    cpu_user_ns: u64,
    cpu_system_ns: u64,
    histogram: String,
}

struct Loop<'a, C, F> {
    options: &'a Options,
    library: &'a str,
    open: F,
    client: Option<C>,
    opened_before: u64,
    failures_in_a_row: u32,
}

impl<'a, C: Client, F: Fn(&Options) -> Result<C, Failure>> Loop<'a, C, F> {
    fn run(mut self) -> Result<(), Failure> {
        // A kept connection stands before the clock starts: the first exchange is never recorded.
        let unrecorded = self.options.warmup.max(u64::from(self.options.kept));
        let mut discarded = Recording::new()?;
        for _ in 0..unrecorded {
            self.iterate(&mut discarded)?;
        }
        for number in 0..self.options.repetitions {
            println!("{}", serde_json::to_string(&self.repeat(number)?)?);
        }
        self.disconnect(C::close);
        Ok(())
    }

    fn repeat(&mut self, number: u64) -> Result<Repetition<'a>, Failure> {
        let mut recording = Recording::new()?;
        let kept_from_before = u64::from(self.client.is_some());
        let opened = self.opened();
        let (user, system) = cpu_times()?;
        let start = Instant::now();
        for _ in 0..self.options.iterations {
            self.iterate(&mut recording)?;
        }
        let wall = start.elapsed();
        let (user_end, system_end) = cpu_times()?;
        Ok(Repetition {
            schema: "wiretrial-driver",
            version: 1,
            library: self.library,
            repetition: number,
            mode: if self.options.kept { "kept" } else { "fresh" },
            iterations: self.options.iterations,
            errors: recording.errors,
            connections: kept_from_before + self.opened() - opened,
            wall_ns: nanoseconds(wall),
            cpu_user_ns: user_end - user,
            cpu_system_ns: system_end - system,
            histogram: recording.encode()?,
            first_error: recording.first_error,
        })
    }

    /// Fails only where the driver can't go on.
    fn iterate(&mut self, recording: &mut Recording) -> Result<(), Failure> {
        match self.exchange() {
            Ok(elapsed) => {
                self.failures_in_a_row = 0;
                recording.histogram.record(nanoseconds(elapsed).min(LONGEST_NS))?;
                if !self.options.kept {
                    self.disconnect(C::close);
                }
                Ok(())
            }
            Err(failure) => {
                self.disconnect(drop);
                recording.failed(failure.as_ref());
                self.count_failure(failure)
            }
        }
    }

    /// One verified exchange, with its connection where there is none yet.
    fn exchange(&mut self) -> Result<Duration, Failure> {
        let start = Instant::now();
        let client = match &mut self.client {
            Some(client) => client,
            none => none.insert((self.open)(self.options)?),
        };
        let reply = client.exchange(&self.options.message)?;
        verify(reply.as_ref(), &self.options.expected)?;
        Ok(start.elapsed())
    }

    fn disconnect(&mut self, end: fn(C)) {
        self.opened_before = self.opened();
        self.client.take().map(end);
    }

    fn opened(&self) -> u64 {
        self.opened_before + self.client.as_ref().map_or(0, C::opened)
    }

    fn count_failure(&mut self, failure: Failure) -> Result<(), Failure> {
        self.failures_in_a_row += 1;
        if self.failures_in_a_row < MOST_FAILURES_IN_A_ROW {
            return Ok(());
        }
        let last = one_line(failure.as_ref());
        Err(format!("{MOST_FAILURES_IN_A_ROW} failures in a row; the last: {last}").into())
    }
}

/// What one repetition found.
struct Recording {
    histogram: Histogram<u64>,
    errors: u64,
    first_error: Option<String>,
}

impl Recording {
    fn new() -> Result<Self, Failure> {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS)?;
        Ok(Self { histogram, errors: 0, first_error: None })
    }

    fn failed(&mut self, failure: &dyn Error) {
        self.errors += 1;
        self.first_error.get_or_insert_with(|| one_line(failure));
    }

    fn encode(&self) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes)?;
        Ok(STANDARD.encode(bytes))
    }
}

fn verify(reply: &[u8], expected: &[u8]) -> Result<(), Failure> {
    if reply == expected {
        return Ok(());
    }
    let (found, right) = (reply.len(), expected.len());
    if found != right {
        return Err(format!("wrong reply: {found} bytes instead of {right}").into());
    }
    let at = reply.iter().zip(expected).take_while(|(found, right)| found == right).count();
    let (found, right) = (reply[at], expected[at]);
    Err(format!("wrong reply: byte {at} is {found} instead of {right}").into())
}

/// User and system time of the whole process, in nanoseconds.
fn cpu_times() -> Result<(u64, u64), Failure> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let user = u64::try_from(usage.user_time().num_nanoseconds())?;
    let system = u64::try_from(usage.system_time().num_nanoseconds())?;
    Ok((user, system))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// An error and its causes; a cause that the error itself has said already is not said twice.
fn one_line(failure: &dyn Error) -> String {
    let mut said = failure.to_string();
    let mut cause = failure.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !said.contains(&words) {
            said = format!("{said}: {words}");
        }
        cause = error.source();
    }
    said.lines().collect::<Vec<_>>().join("; ")
}
