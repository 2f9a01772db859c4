//! A control group: where it is in each hierarchy, and its counters.
//!
//! Knows the names of a group's files in both versions; must not know whose group it is. In version 1
//! each controller has a hierarchy of its own; where version 2 is mounted beside it (hybrid), it tells
//! of pressure. A controller is in one hierarchy only, so no counter has two sources.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{self, Places};
use crate::observation::{Group, GroupCpu, Pressure};
use crate::parse::groups::{self, CpuFilesOf1, Membership, Mount};
use crate::parse::machine;

/// The most groups within a group that are searched for processes.
const MOST_GROUPS: usize = 4096;
/// The most processes that are taken from one.
const MOST_MEMBERS: usize = 65_536;

/// The folders of a control group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Folders {
    path: String,
    cpu: Option<PathBuf>,
    account: Option<PathBuf>,
    memory: Option<PathBuf>,
    unified: Option<PathBuf>,
    /// Where its processes stand.
    any: PathBuf,
}

/// The hierarchies that are mounted here.
pub(crate) fn mounts(places: &Places) -> io::Result<Vec<Mount>> {
    Ok(groups::mounts(&files::read(&places.proc.join("self/mountinfo"))?))
}

impl Folders {
    /// Those of the group that a process is in; the reason where none can be reached.
    pub(crate) fn of_process(places: &Places, mounts: &[Mount], pid: u32) -> Result<Self, String> {
        let text =
            files::read(&places.process(pid, "cgroup")).map_err(|error| files::reason(&error))?;
        let memberships = groups::memberships(&text);
        let path = |mount: &Mount| {
            let ours = |one: &&Membership| match &mount.controllers {
                None => one.controllers.is_empty(),
                Some(names) => one.controllers.iter().any(|name| names.contains(name)),
            };
            memberships.iter().find(ours).map(|one| one.path.clone())
        };
        Self::find(mounts, path)
    }

    /// Those of a group that is named by its folder in one hierarchy, or by its path in all.
    pub(crate) fn named(mounts: &[Mount], path: &str) -> Result<Self, String> {
        let within = mounts.iter().filter_map(|mount| {
            let rest = groups::below(path, &mount.point)?;
            Some((mount.point.len(), format!("{}{rest}", mount.root.trim_end_matches('/'))))
        });
        let folder = within.max().filter(|_| Path::new(path).is_dir()).map(|(_, path)| path);
        let path = folder.unwrap_or_else(|| path.to_owned());
        Self::find(mounts, |_| Some(path.clone()))
    }

    fn find(mounts: &[Mount], path: impl Fn(&Mount) -> Option<String>) -> Result<Self, String> {
        if mounts.is_empty() {
            return Err("no hierarchy of control groups is mounted here".to_owned());
        }
        let mut found = Self::default();
        for mount in mounts {
            let Some(path) = path(mount) else { continue };
            let Some(rest) = groups::below(&path, &mount.root) else { continue };
            let folder = Path::new(&mount.point).join(rest.trim_start_matches('/'));
            if folder.is_dir() {
                found.put(mount, &path, &folder);
            }
        }
        // Where both versions are mounted, controllers are those of version 1, and so are its processes.
        let first = found.memory.as_ref().or(found.cpu.as_ref()).or(found.account.as_ref());
        let first = first.or(found.unified.as_ref()).cloned();
        found.any = first.ok_or("it is in no hierarchy that is mounted here")?;
        Ok(found)
    }

    fn put(&mut self, mount: &Mount, path: &str, folder: &Path) {
        let has = |name: &str| mount.controllers.iter().flatten().any(|one| one == name);
        let slots = [
            (&mut self.cpu, has("cpu")),
            (&mut self.account, has("cpuacct")),
            (&mut self.memory, has("memory")),
            (&mut self.unified, mount.controllers.is_none()),
        ];
        for (slot, fits) in slots {
            if fits && slot.is_none() {
                *slot = Some(folder.to_owned());
                // The root says least: a process may be in it in all hierarchies but one.
                if self.path.is_empty() || (self.path == "/" && path != "/") {
                    path.clone_into(&mut self.path);
                }
            }
        }
    }

    /// What can be read of it: name, and why not.
    pub(crate) fn sources(&self) -> Vec<(&'static str, Option<String>)> {
        let cpu = self.cpu.as_ref().or(self.unified.as_ref());
        let memory = self.memory.as_ref().map(|folder| folder.join("memory.usage_in_bytes"));
        let unified = |file: &str| self.unified.as_ref().map(|folder| folder.join(file));
        [
            ("cgroup cpu.stat", cpu.map(|folder| folder.join("cpu.stat"))),
            ("cgroup memory", memory.or_else(|| unified("memory.current"))),
            ("cgroup pressure", unified("cpu.pressure")),
        ]
        .map(|(name, file)| (name, missing(file.as_deref())))
        .to_vec()
    }

    /// Its counters; all null where it is gone.
    pub(crate) fn read(&self) -> Group {
        Group {
            path: self.path.clone(),
            versions: self.versions(),
            cpu: self.read_cpu(),
            memory: self.read_memory(),
            pressure: pressure(self.unified.as_deref()),
        }
    }

    fn versions(&self) -> Vec<u32> {
        let one = self.cpu.is_some() || self.account.is_some() || self.memory.is_some();
        [(1, one), (2, self.unified.is_some())]
            .into_iter()
            .filter(|(_, is)| *is)
            .map(|(n, _)| n)
            .collect()
    }

    fn read_cpu(&self) -> GroupCpu {
        if self.cpu.is_none() && self.account.is_none() {
            let file = |name: &str| text(self.unified.as_deref(), name);
            return groups::cpu_of_2(file("cpu.stat").as_deref(), file("cpu.max").as_deref());
        }
        let (cpu, account) = (self.cpu.as_deref(), self.account.as_deref());
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        groups::cpu_of_1(
            &CpuFilesOf1 {
                usage: text(account, "cpuacct.usage").as_deref(),
                modes: text(account, "cpuacct.stat").as_deref(),
                stat: text(cpu, "cpu.stat").as_deref(),
                quota: text(cpu, "cpu.cfs_quota_us").as_deref(),
                period: text(cpu, "cpu.cfs_period_us").as_deref(),
            },
            tick_ns,
        )
    }

    fn read_memory(&self) -> crate::observation::GroupMemory {
        let (folder, names) = match &self.memory {
            Some(folder) => (Some(folder.as_path()), MEMORY_1),
            None => (self.unified.as_deref(), MEMORY_2),
        };
        let [current, peak, limit, events] = names.map(|name| text(folder, name));
        groups::memory(current.as_deref(), peak.as_deref(), limit.as_deref(), events.as_deref())
    }

    /// The processes in it and in the groups within.
    pub(crate) fn members(&self) -> Vec<u32> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![self.any.clone()];
        let mut searched = 0;
        while let Some(folder) = waiting.pop() {
            searched += 1;
            let listed = text(Some(&folder), "cgroup.procs").unwrap_or_default();
            found.extend(groups::members(&listed).take(MOST_MEMBERS - found.len()));
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let within = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let room = MOST_GROUPS.saturating_sub(searched + waiting.len());
            waiting.extend(within.map(|entry| entry.path()).take(room));
        }
        found.into_iter().collect()
    }
}

const MEMORY_1: [&str; 4] = [
    "memory.usage_in_bytes",
    "memory.max_usage_in_bytes",
    "memory.limit_in_bytes",
    "memory.oom_control",
];
const MEMORY_2: [&str; 4] = ["memory.current", "memory.peak", "memory.max", "memory.events"];

fn text(folder: Option<&Path>, name: &str) -> Option<String> {
    files::read(&folder?.join(name)).ok()
}

fn missing(file: Option<&Path>) -> Option<String> {
    let Some(file) = file else { return Some("no hierarchy here has it".to_owned()) };
    files::read(file).err().map(|error| files::reason(&error))
}

fn pressure(folder: Option<&Path>) -> Pressure {
    let of = |name: &str| machine::pressure(&text(folder, name)?);
    Pressure { cpu: of("cpu.pressure"), memory: of("memory.pressure"), io: of("io.pressure") }
}
