//! What is counted for the whole machine.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counters of the whole machine; those of the network are of the observer's network namespace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Of each CPU that is online.
    pub cpus: Vec<CpuTicks>,
    /// Context switches of all CPUs.
    pub context_switches: Option<u64>,
    /// Processes and threads that were made.
    pub forks: Option<u64>,
    /// Threads that can run now.
    pub running: Option<u64>,
    /// Threads that wait for a disk now.
    pub blocked: Option<u64>,
    /// Packets that each CPU took in.
    pub softnet: Option<Vec<Softnet>>,
    /// TCP in the observer's network namespace.
    pub tcp: Option<Tcp>,
    /// Frequencies of the CPUs that tell them.
    pub frequencies: Option<Vec<Frequency>>,
    /// Time lost for want of CPUs, memory and disks.
    pub pressure: Pressure,
}

/// What a CPU did since the machine's start, in clock ticks. A guest's time is in `user` and `nice`, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTicks {
    /// Its number.
    pub cpu: u32,
    /// In programs.
    pub user: u64,
    /// In programs of low priority.
    pub nice: u64,
    /// In the kernel, for programs.
    pub system: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do while a disk is awaited.
    pub iowait: Option<u64>,
    /// In interrupts.
    pub irq: Option<u64>,
    /// In soft interrupts, such as those that take packets in.
    pub softirq: Option<u64>,
    /// Taken by the hypervisor.
    pub steal: Option<u64>,
    /// In guests of this machine.
    pub guest: Option<u64>,
    /// In guests of low priority.
    pub guest_nice: Option<u64>,
}

/// Packets that a CPU took in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Softnet {
    /// Its number; null where an older kernel does not tell.
    pub cpu: Option<u32>,
    /// Packets.
    pub processed: u64,
    /// Packets that found its queue full.
    pub dropped: u64,
    /// Turns that ended with packets left.
    pub time_squeeze: u64,
    /// Times that another CPU handed packets over (receive packet steering).
    pub received_rps: Option<u64>,
    /// Packets that were dropped for one flow's limit.
    pub flow_limited: Option<u64>,
    /// Packets in its queue now.
    pub backlog: Option<u64>,
}

/// Counters of TCP, by the kernel's own names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tcp {
    /// The group `Tcp` of `/proc/net/snmp`, whole.
    pub tcp: BTreeMap<String, i64>,
    /// Of the group `TcpExt` of `/proc/net/netstat` what tells of queues, losses, resets and memory.
    pub tcp_ext: BTreeMap<String, i64>,
}

/// The frequency of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frequency {
    /// Its number.
    pub cpu: u32,
    /// Kilohertz, as the kernel saw it last.
    pub khz: u64,
}

/// Time in which threads stood still for want of something (PSI).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// For a CPU.
    pub cpu: Option<Stall>,
    /// For memory.
    pub memory: Option<Stall>,
    /// For disks.
    pub io: Option<Stall>,
}

/// Microseconds in which something stood still.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// At least one thread.
    pub some_us: u64,
    /// All threads; null where the kernel does not tell.
    pub full_us: Option<u64>,
}
