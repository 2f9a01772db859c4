//! The processes of a target: their sums, and what became of those that ended.
//!
//! Knows processes and threads; must not know how they were found.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::census::Children;
use crate::files::{self, Places};
use crate::observation::{Descriptors, Ended, Member, Processes};
use crate::parse::process::{self, Scheduled, Stat};

/// The most processes of a target that are read.
const MOST_PROCESSES: usize = 4096;
/// The most threads of a target that are asked how long they ran and waited.
const MOST_THREADS: usize = 16_384;
/// The most processes that a sample names.
const MOST_NAMED: usize = 64;

/// What is remembered of a target's processes from sample to sample. Its size is bounded by the two
/// limits above.
#[derive(Debug, Default)]
pub(crate) struct Account {
    known: HashMap<u32, Known>,
    threads: HashMap<u32, Scheduled>,
    ended: Ended,
}

/// A process as it was last seen.
#[derive(Debug, Clone, Copy)]
struct Known {
    start: u64,
    user: u64,
    system: u64,
}

impl Account {
    /// The root and all that descend from it, parents first. A process that was seen once belongs to
    /// the target until it ends, whoever became its parent.
    pub(crate) fn family(&self, root: u32, children: &Children) -> Vec<u32> {
        let mut orphans: Vec<u32> = self.known.keys().copied().filter(|pid| *pid != root).collect();
        orphans.sort_unstable();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for start in std::iter::once(root).chain(orphans) {
            let mut next = found.len();
            if seen.insert(start) {
                found.push(start);
            }
            while let Some(pid) = found.get(next) {
                let born = children.get(pid).into_iter().flatten();
                let new: Vec<u32> = born.copied().filter(|child| seen.insert(*child)).collect();
                found.extend(new);
                next += 1;
            }
        }
        found
    }

    /// Reads these processes. `root`: of a tree, whose ids may have come to strangers since they were
    /// found.
    pub(crate) fn read(&mut self, places: &Places, ids: &[u32], root: Option<u32>) -> Processes {
        let mut sums = Processes::default();
        let mut members = Vec::new();
        let mut now = HashMap::new();
        let mut threads = Some(HashMap::new());
        let mut written = Some(0_u64);
        let mut unread = HashSet::new();
        for &pid in ids {
            let found = match files::read(&places.process(pid, "stat")) {
                Ok(text) if now.len() < MOST_PROCESSES => process::stat(&text),
                // It ended meanwhile.
                Err(error) if error.kind() != io::ErrorKind::PermissionDenied => None,
                _ => {
                    unread.insert(pid);
                    continue;
                }
            };
            let ours = |stat: &Stat| self.belongs(pid, stat, root, &now);
            let Some(stat) = found.filter(ours) else { continue };
            now.insert(pid, Known { start: stat.start, user: stat.user, system: stat.system });
            add(&mut sums, &stat);
            scheduled(places, pid, &stat, &mut threads);
            written = written.and_then(|sum| Some(sum.saturating_add(written_by(places, pid)?)));
            members.push(member(pid, &stat));
        }
        self.known.retain(|pid, _| !unread.contains(pid));
        self.count_ended(&now, threads.as_ref());
        sums.unread = unread.len() as u64;
        sums.written_bytes = written.filter(|_| sums.count > 0 && sums.unread == 0);
        self.known = now;
        let total = threads.as_ref().map(|all| sum(all.values().copied()));
        sums.on_cpu_ns = total.map(|total| total.on_cpu_ns);
        sums.run_queue_ns = total.map(|total| total.run_queue_ns);
        self.threads = threads.unwrap_or_default();
        sums.ended = self.ended.clone();
        members.sort_by_key(|member| (member.start_ticks, member.pid));
        sums.members_left_out = members.len().saturating_sub(MOST_NAMED) as u64;
        members.truncate(MOST_NAMED);
        sums.members = members;
        sums
    }

    /// Proportional set size of the processes that were read last; none where there are none, or one
    /// of them may not be read. What a process shares is divided; one that has ended has nothing.
    pub(crate) fn exact_memory(&self, places: &Places) -> Option<u64> {
        let each = self.known.keys().map(|pid| exact_memory(places, *pid));
        let sum = each.reduce(|sum, one| Some(sum?.saturating_add(one?)));
        sum.flatten()
    }

    /// Open descriptors of the processes that were read last; none where there are none, or those of
    /// one may not be read.
    pub(crate) fn descriptors(&self, places: &Places) -> Option<Descriptors> {
        let each = self.known.keys().map(|pid| descriptors(places, *pid));
        each.reduce(|sum, one| Some(together(sum?, one?))).flatten()
    }

    /// Of a tree: the root, a child of one that was read, or one that has been there before.
    fn belongs(&self, pid: u32, stat: &Stat, root: Option<u32>, now: &HashMap<u32, Known>) -> bool {
        let known = self.known.get(&pid).is_some_and(|known| known.start == stat.start);
        root.is_none_or(|root| root == pid) || known || now.contains_key(&stat.parent)
    }

    /// What was known and is not there any more, or is another process by now, has ended.
    fn count_ended(
        &mut self,
        now: &HashMap<u32, Known>,
        threads: Option<&HashMap<u32, Scheduled>>,
    ) {
        for (pid, known) in &self.known {
            if now.get(pid).is_none_or(|found| found.start != known.start) {
                self.ended.processes += 1;
                self.ended.user_ticks = self.ended.user_ticks.saturating_add(known.user);
                self.ended.system_ticks = self.ended.system_ticks.saturating_add(known.system);
            }
        }
        let Some(threads) = threads else { return };
        let gone = self.threads.iter().filter(|(id, before)| {
            // A thread's times never shrink: one that has less is another with the same id.
            threads.get(id).is_none_or(|found| found.on_cpu_ns < before.on_cpu_ns)
        });
        let gone = sum(gone.map(|(_, before)| *before));
        self.ended.on_cpu_ns = self.ended.on_cpu_ns.saturating_add(gone.on_cpu_ns);
        self.ended.run_queue_ns = self.ended.run_queue_ns.saturating_add(gone.run_queue_ns);
    }
}

fn add(sums: &mut Processes, stat: &Stat) {
    let more = |sum: &mut u64, by: u64| *sum = sum.saturating_add(by);
    more(&mut sums.count, 1);
    more(&mut sums.threads, stat.threads);
    more(&mut sums.user_ticks, stat.user);
    more(&mut sums.system_ticks, stat.system);
    more(&mut sums.children_user_ticks, stat.children_user);
    more(&mut sums.children_system_ticks, stat.children_system);
    more(&mut sums.rss_bytes, resident(stat));
}

fn member(pid: u32, stat: &Stat) -> Member {
    Member {
        pid,
        parent: stat.parent,
        start_ticks: stat.start,
        state: stat.state.to_string(),
        user_ticks: stat.user,
        system_ticks: stat.system,
        threads: stat.threads,
        rss_bytes: resident(stat),
    }
}

fn resident(stat: &Stat) -> u64 {
    stat.rss_pages.unwrap_or_default().saturating_mul(rustix::param::page_size() as u64)
}

/// Adds how long each thread of a process ran and waited; none any more where that is not told, or
/// there are too many threads.
fn scheduled(places: &Places, pid: u32, stat: &Stat, all: &mut Option<HashMap<u32, Scheduled>>) {
    let Some(found) = all else { return };
    let folder = places.process(pid, "task");
    let ids = if stat.threads > 1 { files::numbers(&folder) } else { vec![pid] };
    if found.len() + ids.len() > MOST_THREADS {
        *all = None;
        return;
    }
    for id in ids {
        match files::read(&folder.join(id.to_string()).join("schedstat")) {
            Ok(text) => {
                let Some(times) = process::schedstat(&text) else {
                    *all = None;
                    return;
                };
                found.insert(id, times);
            }
            // The thread has ended, or the kernel tells of none.
            Err(_) if !folder.join(id.to_string()).exists() => {}
            Err(_) => {
                *all = None;
                return;
            }
        }
    }
}

fn exact_memory(places: &Places, pid: u32) -> Option<u64> {
    let text = files::read(&places.process(pid, "smaps_rollup"));
    match text.ok().and_then(|text| process::pss(&text)) {
        None if !is_running(places, pid) => Some(0),
        found => found,
    }
}

fn written_by(places: &Places, pid: u32) -> Option<u64> {
    let text = files::read(&places.process(pid, "io"));
    match text.ok().and_then(|text| process::written(&text)) {
        None if !is_running(places, pid) => Some(0),
        found => found,
    }
}

fn descriptors(places: &Places, pid: u32) -> Option<Descriptors> {
    let Some(open) = files::descriptors(&places.process(pid, "fd")) else {
        return (!is_running(places, pid)).then(Descriptors::default);
    };
    let limits = files::read(&places.process(pid, "limits"));
    let limit = limits.ok().and_then(|text| process::descriptor_limit(&text));
    Some(Descriptors { open, fullest: open, limit })
}

/// Of two, the fuller one has the larger share of its limit; without a limit there is no share.
fn together(one: Descriptors, other: Descriptors) -> Descriptors {
    let share =
        |of: &Descriptors| of.limit.map_or(0.0, |limit| of.fullest as f64 / limit.max(1) as f64);
    let fuller = if share(&other) > share(&one) { other } else { one };
    Descriptors { open: one.open.saturating_add(other.open), ..fuller }
}

fn is_running(places: &Places, pid: u32) -> bool {
    let text = files::read(&places.process(pid, "stat")).ok();
    text.and_then(|text| process::stat(&text)).is_some_and(|stat| !stat.has_ended())
}

fn sum(all: impl Iterator<Item = Scheduled>) -> Scheduled {
    all.fold(Scheduled::default(), |sum, one| Scheduled {
        on_cpu_ns: sum.on_cpu_ns.saturating_add(one.on_cpu_ns),
        run_queue_ns: sum.run_queue_ns.saturating_add(one.run_queue_ns),
    })
}
