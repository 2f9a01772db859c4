//! One sample: the machine and every target, read one right after the other.
//!
//! Knows what belongs to a target; must not know when or why a sample is taken.

use std::fs;

use crate::ObserveError;
use crate::census::{Census, Children};
use crate::clock;
use crate::files::{self, Places};
use crate::groups::{self, Folders};
use crate::machine;
use crate::observation::{
    Accounting, Host, Instants, OBSERVATION_SCHEMA, OBSERVATION_VERSION, Source, Start, TargetName,
    TargetSample, Tcp,
};
use crate::parse::groups::Mount;
use crate::parse::process;
use crate::processes::Account;
use crate::target::{Target, What};

/// Everything that is observed, and what is remembered of it.
#[derive(Debug)]
pub(crate) struct Sampler {
    places: Places,
    mounts: Vec<Mount>,
    census: Census,
    watched: Vec<Watched>,
}

#[derive(Debug)]
struct Watched {
    target: Target,
    account: Account,
    /// Of a control group: where it was when the observation began.
    folders: Option<Folders>,
}

/// The counters of a sample.
pub(crate) struct Reading {
    pub(crate) before: Instants,
    pub(crate) after: Instants,
    pub(crate) host: Host,
    pub(crate) targets: Vec<TargetSample>,
}

impl Sampler {
    /// Finds every target. Refuses one that is not there.
    pub(crate) fn new(places: Places, targets: &[Target]) -> Result<Self, ObserveError> {
        // Without them there are no control groups, which the first line says.
        let mounts = groups::mounts(&places).unwrap_or_default();
        let mut watched = Vec::new();
        for target in targets {
            let absent =
                |why: &str| ObserveError::Target(format!("can't observe {}: {why}", target.what));
            let folders = match &target.what {
                What::Tree(pid) => {
                    let text = files::read(&places.process(*pid, "stat"));
                    let text = text.map_err(|error| absent(&files::reason(&error)))?;
                    process::stat(&text).ok_or_else(|| absent("its stat can't be understood"))?;
                    None
                }
                What::Group(path) => {
                    Some(Folders::named(&mounts, path).map_err(|why| absent(&why))?)
                }
            };
            watched.push(Watched { target: target.clone(), account: Account::default(), folders });
        }
        Ok(Self { places, mounts, census: Census::default(), watched })
    }

    /// The first line.
    pub(crate) fn start(&self, interval_ns: u64, duration_ns: Option<u64>) -> Start {
        let system = rustix::system::uname();
        let release = system.release().to_string_lossy().into_owned();
        let accounting = machine::accounting(&self.places, &release);
        let since_boot_ns = clock::boottime_ns();
        Start {
            schema: OBSERVATION_SCHEMA.to_owned(),
            version: OBSERVATION_VERSION,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            boot_id: machine::boot_id(&self.places),
            host_hash: machine::hash(system.nodename().to_bytes()),
            architecture: system.machine().to_string_lossy().into_owned(),
            clock_ticks: rustix::param::clock_ticks_per_second(),
            page_bytes: rustix::param::page_size() as u64,
            cpus: machine::cpus(&self.places),
            at: clock::instants(),
            since_boot_ns,
            interval_ns,
            duration_ns,
            targets: self.watched.iter().map(|one| name(&one.target)).collect(),
            sources: self.sources(&accounting),
            accounting,
            kernel: release,
        }
    }

    /// All counters, read now.
    pub(crate) fn read(&mut self) -> Reading {
        let before = clock::instants();
        let host = machine::read(&self.places);
        let trees = self.watched.iter().any(|one| one.folders.is_none());
        let children = if trees {
            self.census.take(&self.places, before.monotonic_ns)
        } else {
            Children::new()
        };
        let targets = self.watched.iter_mut().map(|one| {
            let (ids, root) = match (&one.target.what, &one.folders) {
                (What::Tree(pid), _) => (one.account.family(*pid, &children), Some(*pid)),
                (_, folders) => (folders.as_ref().map(Folders::members).unwrap_or_default(), None),
            };
            let processes = one.account.read(&self.places, &ids, root);
            let of_root = |pid| Folders::of_process(&self.places, &self.mounts, pid).ok();
            let cgroup = one.folders.clone().or_else(|| root.and_then(of_root));
            let inside = root.or_else(|| ids.first().copied());
            TargetSample {
                name: one.target.name.clone(),
                processes,
                cgroup: cgroup.map(|folders| folders.read()),
                tcp: inside.and_then(|pid| tcp(&self.places, pid)),
            }
        });
        let targets = targets.collect();
        Reading { before, host, targets, after: clock::instants() }
    }

    /// Adds descriptors and exact memory of every target. It may take long, so all other counters
    /// come first.
    pub(crate) fn read_costly(&self, targets: &mut [TargetSample]) {
        for (one, sample) in self.watched.iter().zip(targets) {
            if sample.processes.unread == 0 {
                sample.processes.descriptors = one.account.descriptors(&self.places);
                sample.processes.pss_bytes = one.account.exact_memory(&self.places);
            }
        }
    }

    fn sources(&self, accounting: &Accounting) -> Vec<Source> {
        let of = |target: Option<&str>, (name, missing): (&str, Option<String>)| Source {
            name: name.to_owned(),
            target: target.map(str::to_owned),
            missing,
        };
        let host = machine::sources(&self.places, accounting);
        let mut found: Vec<Source> = host.into_iter().map(|source| of(None, source)).collect();
        for one in &self.watched {
            let name = Some(one.target.name.as_str());
            let pid = match one.target.what {
                What::Tree(pid) => Some(pid),
                What::Group(_) => {
                    one.folders.as_ref().and_then(|folders| folders.members().first().copied())
                }
            };
            for file in ["stat", "schedstat", "smaps_rollup", "io", "net/snmp"] {
                let missing = pid.map_or(Some("it has no process".to_owned()), |pid| {
                    files::read(&self.places.process(pid, file))
                        .err()
                        .map(|error| files::reason(&error))
                });
                found.push(of(name, (file, missing)));
            }
            let folders = match (&one.folders, &one.target.what) {
                (None, What::Tree(pid)) => Folders::of_process(&self.places, &self.mounts, *pid),
                (folders, _) => folders.clone().ok_or_else(String::new),
            };
            match folders {
                Ok(folders) => {
                    found.extend(folders.sources().into_iter().map(|source| of(name, source)));
                }
                Err(why) => found.push(of(name, ("cgroup", Some(why)))),
            }
        }
        found
    }
}

fn name(target: &Target) -> TargetName {
    let (pid, cgroup) = match &target.what {
        What::Tree(pid) => (Some(*pid), None),
        What::Group(path) => (None, Some(path.clone())),
    };
    TargetName { name: target.name.clone(), pid, cgroup }
}

/// TCP in a process's network namespace, where that is not the observer's own.
fn tcp(places: &Places, pid: u32) -> Option<Tcp> {
    let theirs = fs::read_link(places.process(pid, "ns/net")).ok()?;
    if fs::read_link(places.proc.join("self/ns/net")).ok()? == theirs {
        return None;
    }
    machine::tcp(&places.process(pid, "net"))
}
