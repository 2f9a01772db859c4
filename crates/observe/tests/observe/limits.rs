//! A real control group whose limit throttles; skipped where groups can't be made.

use std::fs;
use std::path::{Path, PathBuf};

use wiretrial_observe::Target;

use crate::common::{Observer, Shell, freeze, only, until};

/// A group that is limited to a tenth of a CPU; it goes with the test, after its processes.
struct Limited {
    folder: PathBuf,
    quota: (&'static str, &'static str),
    period: Option<(&'static str, &'static str)>,
}

impl Limited {
    /// In version 1 where the controller of CPUs is there, else in version 2. The reason where it is in none.
    fn new() -> Result<Self, String> {
        let name = format!("wiretrial-observe-{}", std::process::id());
        let one = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let two = Path::new("/sys/fs/cgroup").join(&name);
        let made = if one.parent().is_some_and(|parent| parent.join("cpu.cfs_quota_us").exists())
            || Path::new("/sys/fs/cgroup/cpu/cpu.shares").exists()
        {
            let period = Some(("cpu.cfs_period_us", "20000"));
            Self { folder: one, quota: ("cpu.cfs_quota_us", "2000"), period }
        } else {
            Self { folder: two, quota: ("cpu.max", "2000 20000"), period: None }
        };
        fs::create_dir(&made.folder)
            .map_err(|error| format!("{}: {error}", made.folder.display()))?;
        for (file, value) in made.period.into_iter().chain([made.quota]) {
            fs::write(made.folder.join(file), value).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(made)
    }

    fn counter(&self, name: &str) -> u64 {
        let text = fs::read_to_string(self.folder.join("cpu.stat")).expect("its counters");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        line.expect(name)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        for _ in 0..100 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_limit_that_throttles_is_told_as_the_kernel_counts_it() {
    let limited = match Limited::new() {
        Ok(limited) => limited,
        Err(why) => return eprintln!("skipped: no control group can be made here: {why}"),
    };
    let shell = Shell::start("while :; do :; done");
    fs::write(limited.folder.join("cgroup.procs"), shell.pid().to_string()).expect("moved");
    let named = Target::group(&format!("group={}", limited.folder.display())).expect("a target");
    let mut observer = Observer::of(vec![named, shell.target("tree")]);
    until("throttled", || (limited.counter("nr_throttled ") >= 5).then_some(()));
    freeze(&shell, &[shell.pid()]);
    let counted = until("still", || {
        let before = (limited.counter("nr_periods "), limited.counter("nr_throttled "));
        let sample = observer.mark("throttled");
        let after = (limited.counter("nr_periods "), limited.counter("nr_throttled "));
        (before == after).then_some((before, sample))
    });
    let ((periods, throttled), sample) = counted;
    for target in &sample.targets {
        let found = target.cgroup.as_ref().expect("its group");
        assert!(found.path.ends_with(&format!("wiretrial-observe-{}", std::process::id())));
        let cpu = &found.cpu;
        assert_eq!((cpu.quota_ns, cpu.period_ns), (Some(2_000_000), Some(20_000_000)));
        assert_eq!((cpu.periods, cpu.throttled_periods), (Some(periods), Some(throttled)));
        assert!(cpu.throttled_ns > Some(0) && cpu.usage_ns.is_none_or(|usage| usage > 0));
        let pids: Vec<u32> = target.processes.members.iter().map(|one| one.pid).collect();
        assert_eq!(pids, [shell.pid()]);
    }
    drop(observer);
    drop(shell);
    let only_group = Target::group(&limited.folder.display().to_string()).expect("a target");
    let sample = Observer::of(vec![only_group]).mark("empty");
    assert_eq!(only(&sample).processes.count, 0);
}
