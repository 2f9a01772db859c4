//! The lines of an observation, as they are printed.
//!
//! Knows the names of the JSON; must not know where a counter comes from. Counters are the kernel's
//! own, from its own start on; `ticks` are `clock_ticks` to the second, all else is in the unit that
//! the name ends with. Null is what can't be read. `wiretrial-engine schema observation` prints the
//! JSON Schema of [`Observation`].

mod host;
mod target;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use host::{CpuTicks, Frequency, Host, Pressure, Softnet, Stall, Tcp};
pub use target::{
    Descriptors, Ended, Group, GroupCpu, GroupMemory, Member, Processes, TargetSample,
};

/// The `schema` member of the first line.
pub const OBSERVATION_SCHEMA: &str = "wiretrial-observation";
/// The version of the lines that this crate writes.
pub const OBSERVATION_VERSION: u32 = 1;

/// One line of output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Observation {
    /// The first line: the host, and what may be read on it.
    Start(Box<Start>),
    /// All counters at one instant.
    Sample(Box<Sample>),
}

/// The first line: the host, and what may be read on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// Always `wiretrial-observation`.
    pub schema: String,
    /// Version of this form.
    pub version: u32,
    /// Version of the engine.
    pub engine: String,
    /// Process id of the observer.
    pub pid: u32,
    /// This boot of this machine, as the kernel names it.
    pub boot_id: Option<String>,
    /// The first 16 hexadecimal digits of the SHA-256 of the host's name: tells hosts apart and names none.
    pub host_hash: String,
    /// The kernel's release.
    pub kernel: String,
    /// The machine's architecture.
    pub architecture: String,
    /// Clock ticks of the counters in one second.
    pub clock_ticks: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// CPUs that are online.
    pub cpus: u32,
    /// What the kernel was built with, as far as it changes what a tick counts.
    pub accounting: Accounting,
    /// The clocks when the observation began.
    pub at: Instants,
    /// Time since the machine's start at the same instant, suspended time included: start times of processes count from there.
    pub since_boot_ns: u64,
    /// Time between two samples.
    pub interval_ns: u64,
    /// When it ends by itself, from its start on; null where it does not.
    pub duration_ns: Option<u64>,
    /// What is observed beside the host.
    pub targets: Vec<TargetName>,
    /// Every source that was tried, and why one is missing.
    pub sources: Vec<Source>,
}

/// What is observed beside the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetName {
    /// Its name in each sample.
    pub name: String,
    /// Of a process tree: its root.
    pub pid: Option<u32>,
    /// Of a control group: its path, as it was given.
    pub cgroup: Option<String>,
}

/// A source of counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// What it is.
    pub name: String,
    /// The target whose it is; null: the host's.
    pub target: Option<String>,
    /// Why it can't be read; null where it can.
    pub missing: Option<String>,
}

/// What the kernel was built with, as far as it changes what a tick counts. Null is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accounting {
    /// The file that tells; null where none can be read.
    pub source: Option<String>,
    /// `CONFIG_TICK_CPU_ACCOUNTING`: user and system time are told apart by what ran when the timer ticked.
    pub tick_cpu_accounting: Option<bool>,
    /// `CONFIG_VIRT_CPU_ACCOUNTING_GEN`: exact on the CPUs of `nohz_full`.
    pub virt_cpu_accounting_gen: Option<bool>,
    /// `CONFIG_VIRT_CPU_ACCOUNTING_NATIVE`: exact at each entry to the kernel.
    pub virt_cpu_accounting_native: Option<bool>,
    /// `CONFIG_IRQ_TIME_ACCOUNTING`: time in interrupts is measured, and counts for no process.
    pub irq_time_accounting: Option<bool>,
    /// `CONFIG_SCHED_INFO`: the scheduler tells how long threads ran and waited.
    pub sched_info: Option<bool>,
    /// `CONFIG_HZ`: timer ticks in a second; not the clock ticks that counters are written in.
    pub hz: Option<u32>,
    /// CPUs without a timer tick while they run one thread.
    pub nohz_full: Option<String>,
}

/// The monotonic clock and the wall clock at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instants {
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub monotonic_ns: u64,
    /// Nanoseconds since 1970. It can jump.
    pub real_ns: u64,
}

/// All counters at one instant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Why it was taken.
    pub why: Why,
    /// The mark's name; null where it was none.
    pub mark: Option<String>,
    /// What ended the observation; null in all samples but the last.
    pub end: Option<End>,
    /// The clocks before the first counter was read.
    pub before: Instants,
    /// The clocks after the last one was, but for what is read at marks only.
    pub after: Instants,
    /// How long reading took: `after` less `before` on the monotonic clock.
    pub reading_ns: u64,
    /// How long reading that took afterwards; null where there was no mark.
    pub memory_reading_ns: Option<u64>,
    /// CPU time of the observer since its start, this reading included.
    pub own_cpu_ns: u64,
    /// Of the whole machine.
    pub host: Host,
    /// Of each target, in the order of the first line.
    pub targets: Vec<TargetSample>,
}

/// Why a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// The observation began.
    First,
    /// An interval has passed.
    Interval,
    /// A line `mark NAME` came.
    Mark,
    /// The observation ends.
    Last,
}

/// What ended an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Its time has passed.
    Time,
    /// The input ended, or had a line `stop`.
    Input,
    /// The input had a line that is no order.
    Order,
    /// A signal came.
    Signal,
}
