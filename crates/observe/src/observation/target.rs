//! What is counted for a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host::{Pressure, Tcp};

/// Counters of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetSample {
    /// The target.
    pub name: String,
    /// Its processes; none where all have ended.
    pub processes: Processes,
    /// Its control group; of a process tree that of the root. Null where there is none, or it can't be reached.
    pub cgroup: Option<Group>,
    /// TCP in its own network namespace; null where that is the observer's, or can't be read.
    pub tcp: Option<Tcp>,
}

/// Processes of a target. CPU time is the sum of `user_ticks`, `system_ticks` and both of the children.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Processes {
    /// Processes that are there, those that nobody has waited for yet included.
    pub count: u64,
    /// Their threads.
    pub threads: u64,
    /// Their time in programs, with that of their threads that have ended.
    pub user_ticks: u64,
    /// Their time in the kernel, likewise.
    pub system_ticks: u64,
    /// Time in programs of children that have ended and were waited for.
    pub children_user_ticks: u64,
    /// Their time in the kernel.
    pub children_system_ticks: u64,
    /// How long the threads that are there ran; null where the scheduler does not tell, or there are too many.
    pub on_cpu_ns: Option<u64>,
    /// How long they were ready to run and waited for a CPU; null likewise.
    pub run_queue_ns: Option<u64>,
    /// Those that ended during the observation.
    pub ended: Ended,
    /// Resident memory, with what they share counted for each.
    pub rss_bytes: u64,
    /// Proportional set size: each shared page is divided among those who share it. Read at marks only, because the
    /// kernel walks every page for it; null otherwise, and where it may not be read.
    pub pss_bytes: Option<u64>,
    /// Bytes that they had written to disks, with those of children that were waited for; null where that may not be
    /// read.
    pub written_bytes: Option<u64>,
    /// Their open descriptors. Read at marks only, as on older kernels each is counted; null otherwise, and where they
    /// may not be read.
    pub descriptors: Option<Descriptors>,
    /// Processes that could not be read, or are more than 4,096.
    pub unread: u64,
    /// The first 64 processes, the oldest first. A restart is a process with another start.
    pub members: Vec<Member>,
    /// Processes that are not among them.
    pub members_left_out: u64,
}

/// Open descriptors of a target's processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Descriptors {
    /// Of all of them.
    pub open: u64,
    /// Of the process that has the largest share of its limit.
    pub fullest: u64,
    /// How many that process may have; null where nothing limits it.
    pub limit: Option<u64>,
}

/// Processes and threads that ended during the observation, as they were last seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// Processes that were seen and are gone.
    pub processes: u64,
    /// Their time in programs. Where a process of the target waited for them, it is among its children's, too.
    pub user_ticks: u64,
    /// Their time in the kernel, likewise.
    pub system_ticks: u64,
    /// How long threads ran that are gone.
    pub on_cpu_ns: u64,
    /// How long they waited for a CPU.
    pub run_queue_ns: u64,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    /// Its id.
    pub pid: u32,
    /// The id of its parent.
    pub parent: u32,
    /// When it was started, in clock ticks since the machine's start: with the id it names the process.
    pub start_ticks: u64,
    /// The kernel's letter for its state; `Z`: ended, and nobody has waited for it yet.
    pub state: String,
    /// Its time in programs.
    pub user_ticks: u64,
    /// Its time in the kernel.
    pub system_ticks: u64,
    /// Its threads.
    pub threads: u64,
    /// Its resident memory.
    pub rss_bytes: u64,
}

/// A control group. In version 1 each part is that of its own hierarchy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Its path within its hierarchy.
    pub path: String,
    /// The versions of the hierarchies that it was found in: 1, 2 or both.
    pub versions: Vec<u32>,
    /// CPU time, and what its limit took away.
    pub cpu: GroupCpu,
    /// Memory, the page cache and the kernel's own for it included.
    pub memory: GroupMemory,
    /// Time lost for want of CPUs, memory and disks.
    pub pressure: Pressure,
}

/// CPU time of a control group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupCpu {
    /// Whole CPU time, of ended processes, too.
    pub usage_ns: Option<u64>,
    /// In programs.
    pub user_ns: Option<u64>,
    /// In the kernel.
    pub system_ns: Option<u64>,
    /// Periods in which it had something to run, where it has a limit.
    pub periods: Option<u64>,
    /// Periods in which it was stopped for its limit.
    pub throttled_periods: Option<u64>,
    /// How long it was stopped, over all CPUs.
    pub throttled_ns: Option<u64>,
    /// CPU time that it may have in a period; null where it has no limit of its own.
    pub quota_ns: Option<u64>,
    /// Length of a period.
    pub period_ns: Option<u64>,
}

/// Memory of a control group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupMemory {
    /// Now.
    pub current_bytes: Option<u64>,
    /// The most since it was made.
    pub peak_bytes: Option<u64>,
    /// Its limit; null where it has none of its own.
    pub limit_bytes: Option<u64>,
    /// Processes that were ended for want of memory.
    pub oom_kills: Option<u64>,
}
