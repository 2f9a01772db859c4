//! The binary under test, as a child that ends with its test.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

/// The binary under test.
pub(crate) fn engine() -> Command {
    hear_ignored_signals();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretrial-engine"));
    command.stdin(Stdio::null()).env_remove("COLUMNS");
    command
}

/// A shell starts what it puts into the background with SIGINT ignored, and a child inherits that
/// until it says otherwise: a signal before its first instruction would be lost. What the parent
/// catches, a child has at its default.
fn hear_ignored_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").expect("our own status");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
        let ignored = u64::from_str_radix(mask.trim(), 16).expect("hexadecimal");
        for signal in [2, 15].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 1) {
            let caught = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
            caught.expect("it can be caught");
        }
    });
}

/// Runs it to its end.
pub(crate) fn run(args: &[&str]) -> Output {
    engine().args(args).output().expect("the engine starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A reference server of the binary's own; ends with the test.
pub(crate) struct Respond {
    pub(crate) child: std::process::Child,
    pub(crate) http: String,
}

impl Respond {
    pub(crate) fn start(flags: &[&str]) -> Self {
        use std::io::{BufRead as _, BufReader};
        let mut child = engine()
            .args(["respond", "--http", "127.0.0.1:0"])
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("it says that it is ready");
        let http = line.trim().strip_prefix("ready http=").expect("its address").to_owned();
        Self { child, http }
    }
}

impl Drop for Respond {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
