//! The binary under test, as a child that ends with its test.

use std::process::{Command, Output, Stdio};

/// The binary under test.
pub(crate) fn engine() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretrial-engine"));
    command.stdin(Stdio::null()).env_remove("COLUMNS");
    command
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
