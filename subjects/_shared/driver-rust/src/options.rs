//! The command line of a client driver, as `subjects/_contract/README.md` gives it.
//!
//! Knows words and files; must not know any library.

use std::time::Duration;

use bytes::Bytes;

/// What to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to, with the scheme that says the protocol.
    pub url: String,
    /// Sent in each iteration; empty for a GET.
    pub message: Bytes,
    /// The right reply.
    pub expected: Bytes,
    /// PEM of the only authority to trust; empty without TLS.
    pub authority: Vec<u8>,
    /// One connection for all iterations, or else one for each.
    pub kept: bool,
    /// Iterations before the first repetition.
    pub warmup: u64,
    /// Iterations of a repetition.
    pub iterations: u64,
    /// Lines to print.
    pub repetitions: u64,
    /// Bound of one iteration.
    pub timeout: Duration,
}

/// What the command line asks for.
pub enum Request {
    /// The library's name and version.
    Version,
    /// Repetitions.
    Drive(Options),
}

/// Reads the words after the program's name; the error is a line for a person.
pub fn read(schemes: &[&str], mut words: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut given = Given::default();
    while let Some(word) = words.next() {
        if word == "--version" {
            return Ok(Request::Version);
        }
        let place = match word.as_str() {
            "--url" => &mut given.url,
            "--payload" => &mut given.payload,
            "--warmup" => &mut given.warmup,
            "--iterations" => &mut given.iterations,
            "--repetitions" => &mut given.repetitions,
            "--mode" => &mut given.mode,
            "--cacert" => &mut given.cacert,
            "--expect" => &mut given.expect,
            "--timeout" => &mut given.timeout,
            _ => return Err(format!("unknown argument {word}")),
        };
        *place = Some(words.next().ok_or_else(|| format!("{word}: a value is needed"))?);
    }
    given.check(schemes).map(Request::Drive)
}

#[derive(Default)]
struct Given {
    url: Option<String>,
    payload: Option<String>,
    warmup: Option<String>,
    iterations: Option<String>,
    repetitions: Option<String>,
    mode: Option<String>,
    cacert: Option<String>,
    expect: Option<String>,
    timeout: Option<String>,
}

impl Given {
    fn check(self, schemes: &[&str]) -> Result<Options, String> {
        let url = self.url.unwrap_or_default();
        let scheme = url.split("://").next().unwrap_or_default();
        if !schemes.contains(&scheme) || !url.contains("://") {
            return Err(format!("--url: {} is needed", schemes.join(" or ")));
        }
        let size = count("--payload", self.payload.as_deref(), 0)?;
        let message: Bytes = (0..size).map(|i| b'!' + (i % 90) as u8).collect();
        let page = scheme.starts_with("http") && message.is_empty();
        let expected = if page {
            content("--expect", self.expect.as_deref(), "a GET (--payload 0)")?.into()
        } else {
            message.clone()
        };
        let authority = if matches!(scheme, "https" | "wss" | "grpcs") {
            content("--cacert", self.cacert.as_deref(), scheme)?
        } else {
            Vec::new()
        };
        let kept = match self.mode.as_deref() {
            Some("kept") => true,
            Some("fresh") => false,
            _ => return Err("--mode: kept or fresh".into()),
        };
        Ok(Options {
            message,
            expected,
            authority,
            kept,
            warmup: count("--warmup", self.warmup.as_deref(), 0)?,
            iterations: count("--iterations", self.iterations.as_deref(), 1)?,
            repetitions: count("--repetitions", self.repetitions.as_deref(), 1)?,
            timeout: seconds(self.timeout.as_deref().unwrap_or("10"))?,
            url,
        })
    }
}

fn count(name: &str, text: Option<&str>, least: u64) -> Result<u64, String> {
    match text.map(str::parse) {
        Some(Ok(number)) if number >= least => Ok(number),
        _ => Err(format!("{name}: a whole number from {least} is needed")),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e6 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("--timeout: seconds above 0 are needed, at most 1000000".into()),
    }
}

fn content(name: &str, path: Option<&str>, needed_for: &str) -> Result<Vec<u8>, String> {
    let path = path.ok_or_else(|| format!("{name}: needed for {needed_for}"))?;
    std::fs::read(path).map_err(|error| format!("{name}: {path}: {error}"))
}
