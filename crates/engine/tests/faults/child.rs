//! The engine as a child: signals by its id, what it printed, and a bound for its life.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::binary::engine;
use crate::scripted::pause;

/// A child that lives longer hangs.
const LONGEST: Duration = Duration::from_secs(45);
/// How often a child is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// The engine, running a plan that it got on its standard input.
pub(crate) struct Engine {
    child: Child,
    lines: Receiver<Value>,
    seen: Vec<Value>,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// All that it printed.
    pub(crate) lines: Vec<Value>,
    pub(crate) complaint: String,
}

impl Engine {
    pub(crate) fn run(plan: &Value) -> Self {
        let mut command = engine();
        command.arg("run").stdin(Stdio::piped());
        let mut engine = Self::start(command);
        let stdin = engine.child.stdin.as_mut().expect("piped");
        writeln!(stdin, "{plan}").expect("written");
        engine
    }

    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the engine starts");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // A line that is cut off by the end of the process is none.
                let Ok(value) = serde_json::from_str(&line) else { return };
                // Nobody listens once the test has failed.
                let _ = tell.send(value);
            }
        });
        Self { child, lines, seen: Vec::new() }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn send(&self, signal: Signal) {
        // A child that has ended by itself is told by how it ended.
        let _ = kill_process(self.pid(), signal);
    }

    /// Waits for a line of which this is true.
    pub(crate) fn await_line(&mut self, right: impl Fn(&Value) -> bool) {
        loop {
            let line = self.lines.recv_timeout(LONGEST).expect("such a line comes");
            self.seen.push(line);
            if self.seen.last().is_some_and(&right) {
                return;
            }
        }
    }

    /// Waits for an interval of this phase in which something was in flight or done.
    pub(crate) fn await_load(&mut self) {
        self.await_line(|line| line["counters"]["sent"].as_u64() > Some(0));
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let status = end_of(&mut self.child);
        let mut lines = std::mem::take(&mut self.seen);
        // The reader ends with the pipe, which ended with the child.
        lines.extend(self.lines.iter());
        let mut complaint = String::new();
        let stderr = self.child.stderr.as_mut().expect("piped");
        stderr.read_to_string(&mut complaint).expect("UTF-8");
        Ended { status, lines, complaint }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// The last line, which must be of this kind.
    pub(crate) fn last(&self, kind: &str) -> &Value {
        let last = self.lines.last().unwrap_or_else(|| panic!("nothing was printed: {self:?}"));
        assert_eq!(last["kind"], kind, "{self:?}");
        last
    }

    /// The summary, with right sums.
    pub(crate) fn summary(&self) -> &Value {
        let summary = self.last("summary");
        let counters = &summary["counters"];
        let number = |value: &Value| value.as_u64().expect("a number");
        let errors = counters["errors"].as_object().expect("an object");
        let failed: u64 = errors.values().map(number).sum();
        let told = number(&counters["ok"]) + failed + number(&counters["in_flight"]);
        assert_eq!(number(&counters["sent"]), told, "{counters}");
        summary
    }
}

/// Waits for the end of a child; one that does not end is ended, and the test fails.
pub(crate) fn end_of(child: &mut Child) -> ExitStatus {
    let looks = LONGEST.as_millis() / LOOK.as_millis();
    for _ in 0..looks {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        pause(LOOK);
    }
    let _ = child.kill();
    panic!("it did not end");
}
