//! An observation in a thread of its own, and processes to observe that end with their test.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use wiretrial_observe::observation::{End, Observation, Sample, Start, TargetSample};
use wiretrial_observe::parse::process::{self, Stat};
use wiretrial_observe::{ObserveError, Orders, Places, Settings, Target, observe};

/// So long that no sample comes by itself.
pub(crate) const NEVER_NS: u64 = 3_600_000_000_000;
/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it waits before it looks again.
const LOOK: Duration = Duration::from_millis(5);

/// An observation that runs, and its ends.
pub(crate) struct Observer {
    pub(crate) start: Start,
    pub(crate) first: Sample,
    input: Option<io::PipeWriter>,
    lines: io::Lines<BufReader<io::PipeReader>>,
    thread: JoinHandle<Result<End, ObserveError>>,
}

impl Observer {
    /// Of these targets; samples come at marks alone.
    pub(crate) fn of(targets: Vec<Target>) -> Self {
        Self::with(Settings {
            targets,
            interval_ns: NEVER_NS,
            duration_ns: None,
            places: Places::default(),
        })
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let (orders, input) = io::pipe().expect("a pipe");
        let (output, mut out) = io::pipe().expect("a pipe");
        let thread = thread::spawn(move || {
            let (signals, _open) = io::pipe().expect("a pipe");
            observe(&settings, &mut Orders::new(orders.as_fd(), signals.as_fd()), &mut out)
        });
        let mut lines = BufReader::new(output).lines();
        let mut line = || serde_json::from_str(&lines.next().expect("a line").expect("read"));
        let Ok(Observation::Start(start)) = line() else { panic!("the first line is the start") };
        let Ok(Observation::Sample(first)) = line() else { panic!("the second is a sample") };
        Self { start: *start, first: *first, input: Some(input), lines, thread }
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("open"), "{line}").expect("written");
    }

    pub(crate) fn next(&mut self) -> Sample {
        let line = self.lines.next().expect("a line").expect("read");
        match serde_json::from_str(&line).expect("an observation") {
            Observation::Sample(sample) => *sample,
            Observation::Start(_) => panic!("a second start"),
        }
    }

    /// The sample at a mark.
    pub(crate) fn mark(&mut self, name: &str) -> Sample {
        self.say(&format!("mark {name}"));
        self.next()
    }

    /// Ends the input: the last sample, and what became of the observation.
    pub(crate) fn end(mut self) -> (Sample, Result<End, ObserveError>) {
        self.input = None;
        let last = self.next();
        assert!(self.lines.next().is_none(), "a line after the last");
        (last, self.thread.join().expect("no panic"))
    }
}

/// A shell and all that it starts, in a process group of its own; it ends with the test.
pub(crate) struct Shell(pub(crate) Child);

impl Shell {
    pub(crate) fn start(script: &str) -> Self {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null()).process_group(0);
        Self(command.spawn().expect("a shell"))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn target(&self, name: &str) -> Target {
        Target::tree(&format!("{name}={}", self.pid())).expect("a target")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process_group(Pid::from_child(&self.0), signal).expect("sent");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("an id");
    kill_process(pid, signal).expect("sent");
}

/// What /proc says of a process, read by the test itself.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    process::stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The children of a process, oldest first.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut found: Vec<u32> =
        ids.filter(|id| stat(*id).is_some_and(|stat| stat.parent == pid)).collect();
    found.sort_unstable();
    found
}

/// Looks until it is so.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
        if let Some(found) = look() {
            return found;
        }
        wait_a_little();
    }
    panic!("{what}: not in {PATIENCE:?}");
}

#[expect(clippy::disallowed_methods, reason = "a test waits for processes that it can't poll")]
fn wait_a_little() {
    thread::sleep(LOOK);
}

/// Stops processes where they are, so that their counters stand still.
pub(crate) fn freeze(shell: &Shell, ids: &[u32]) {
    shell.signal(Signal::STOP);
    for id in ids {
        until("stopped", || stat(*id).filter(|stat| stat.state == 'T' || stat.has_ended()));
    }
    // Being stopped is seen a little before the CPU is given up.
    let times = || ids.iter().map(|id| schedstat(*id)).collect::<Vec<_>>();
    let mut before = times();
    until("still", || {
        let now = times();
        std::mem::replace(&mut before, now.clone()).eq(&now).then_some(())
    });
}

/// Nanoseconds that a process with one thread ran and waited.
pub(crate) fn schedstat(pid: u32) -> Option<process::Scheduled> {
    process::schedstat(&std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?)
}

/// The only target of a sample.
pub(crate) fn only(sample: &Sample) -> &TargetSample {
    assert_eq!(sample.targets.len(), 1);
    &sample.targets[0]
}
