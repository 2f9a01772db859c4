//! Real processes, whose counters the test reads itself and finds the same.

use crate::common::{Observer, Shell, children, freeze, kill, only, schedstat, stat, until};
use rustix::process::Signal;
use wiretrial_observe::observation::{Processes, Sample};

const BURN: &str = "while :; do :; done";
/// CPU time that a process has used before it is looked at.
const SOME_TICKS: u64 = 25;

fn burnt(pid: u32) -> Option<()> {
    stat(pid).filter(|stat| stat.user + stat.system >= SOME_TICKS).map(|_| ())
}

/// The sums over these processes as the test reads them.
fn sums(ids: &[u32]) -> (u64, u64, u64, u64, u64) {
    ids.iter().filter_map(|id| stat(*id)).fold((0, 0, 0, 0, 0), |sum, one| {
        (
            sum.0 + one.user,
            sum.1 + one.system,
            sum.2 + one.children_user,
            sum.3 + one.children_system,
            sum.4 + one.threads,
        )
    })
}

fn told(found: &Processes) -> (u64, u64, u64, u64, u64) {
    (
        found.user_ticks,
        found.system_ticks,
        found.children_user_ticks,
        found.children_system_ticks,
        found.threads,
    )
}

fn ids(sample: &Sample) -> Vec<u32> {
    let mut ids: Vec<u32> = only(sample).processes.members.iter().map(|one| one.pid).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_process_that_burns_is_told_to_the_tick() {
    let shell = Shell::start(BURN);
    let mut observer = Observer::of(vec![shell.target("burner")]);
    until("burnt", || burnt(shell.pid()));
    freeze(&shell, &[shell.pid()]);
    let sample = observer.mark("burnt");
    let found = &only(&sample).processes;
    assert_eq!((only(&sample).name.as_str(), found.count, found.unread), ("burner", 1, 0));
    assert_eq!(told(found), sums(&[shell.pid()]));
    let scheduled = schedstat(shell.pid());
    assert_eq!(found.on_cpu_ns, scheduled.map(|times| times.on_cpu_ns));
    assert_eq!(found.run_queue_ns, scheduled.map(|times| times.run_queue_ns));
    if let Some(on_cpu_ns) = found.on_cpu_ns {
        // The scheduler's clock and the ticks tell of the same time: each mode is rounded down.
        let tick_ns = 1_000_000_000 / observer.start.clock_ticks;
        let in_ticks = (found.user_ticks + found.system_ticks) * tick_ns;
        assert!(on_cpu_ns.abs_diff(in_ticks) <= 2 * tick_ns, "{on_cpu_ns} ns, {in_ticks} in ticks");
    }
    let member = &found.members[0];
    assert_eq!(Some(member.start_ticks), stat(shell.pid()).map(|stat| stat.start));
    assert_eq!((member.pid, member.state.as_str()), (shell.pid(), "T"));
    // It began in this boot, and before the observation.
    assert!(member.start_ticks <= observer.start.since_boot_ns / 10_000_000 + 1);
    assert_eq!(observer.end().1.expect("it ends well"), wiretrial_observe::observation::End::Input);
}

#[test]
fn memory_is_read_exactly_at_marks_alone() {
    let shell = Shell::start("sleep 1000 & wait");
    until("forked", || children(shell.pid()).first().copied());
    let mut observer = Observer::of(vec![shell.target("app")]);
    assert_eq!(only(&observer.first).processes.pss_bytes, None);
    let sample = observer.mark("memory");
    let found = &only(&sample).processes;
    let readable = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", shell.pid())).is_ok();
    assert_eq!(found.pss_bytes.is_some(), readable);
    assert!(found.pss_bytes.is_none_or(|pss| pss > 0 && pss <= found.rss_bytes));
    assert!(found.rss_bytes > 0 && sample.memory_reading_ns > Some(0));
    let (last, _) = observer.end();
    assert_eq!((only(&last).processes.pss_bytes, last.memory_reading_ns), (None, None));
}

#[test]
fn descriptors_are_those_of_all_and_of_the_fullest_process() {
    let child = "ulimit -n 40; exec 8</dev/null 9</dev/null; sleep 1000";
    let shell = Shell::start(&format!("exec 8</dev/null; sh -c '{child}' & wait"));
    let open = |pid: u32| std::fs::read_dir(format!("/proc/{pid}/fd")).ok().map(Iterator::count);
    let sleeps = |pid: u32| std::path::Path::new(&format!("/proc/{pid}/fd/9")).exists();
    let forked = || children(shell.pid()).first().copied().filter(|pid| sleeps(*pid));
    until("descriptors", forked);
    let mut observer = Observer::of(vec![shell.target("app")]);
    assert_eq!(only(&observer.first).processes.descriptors, None, "at marks only");
    let sample = observer.mark("now");
    let told = only(&sample).processes.descriptors.expect("they may be read");
    let counts: Vec<u64> =
        ids(&sample).into_iter().filter_map(open).map(|one| one as u64).collect();
    assert_eq!(told.open, counts.iter().sum::<u64>());
    assert_eq!(told.limit, Some(40), "the shell has the same, of a higher limit");
    assert!(counts.contains(&told.fullest), "{told:?} of {counts:?}");
}

#[test]
fn what_went_to_disks_is_told_with_that_of_children_that_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("log").display().to_string();
    let shell = Shell::start(&format!(
        "dd if=/dev/zero of={file} bs=4096 count=4 conv=fsync 2>/dev/null; sleep 1000"
    ));
    let sleeps = |pid: u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
    };
    let slept = || {
        let mut all = children(shell.pid());
        all.push(shell.pid());
        all.into_iter().find(|pid| sleeps(*pid))
    };
    until("written", slept);
    let mut observer = Observer::of(vec![shell.target("app")]);
    let sample = observer.mark("now");
    let written = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
        wiretrial_observe::parse::process::written(&text)
    };
    let expected: Option<u64> = ids(&sample).into_iter().map(written).sum();
    assert_eq!(only(&sample).processes.written_bytes, expected);
}

#[test]
fn a_tree_that_forks_is_told_whole_with_children_that_ended() {
    // The first child burns and ends; the second forks a third.
    let script = format!(
        "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; sh -c '{BURN} & wait' & wait"
    );
    let shell = Shell::start(&script);
    let mut observer = Observer::of(vec![shell.target("tree")]);
    let middle = until("the second child", || {
        let children = children(shell.pid());
        children.into_iter().find(|id| {
            stat(shell.pid()).is_some_and(|s| s.children_user > 0) && stat(*id).is_some()
        })
    });
    let leaf = until("its child", || children(middle).first().copied());
    until("burnt", || burnt(leaf));
    let all = [shell.pid(), middle, leaf];
    freeze(&shell, &all);
    let sample = observer.mark("tree");
    let found = &only(&sample).processes;
    let mut expected = all.to_vec();
    expected.sort_unstable();
    assert_eq!((found.count, ids(&sample)), (3, expected));
    assert_eq!(told(found), sums(&all));
    assert!(found.children_user_ticks > 0, "{found:?}");
    let waited: Option<u64> = all.iter().map(|id| schedstat(*id).map(|s| s.run_queue_ns)).sum();
    assert_eq!(found.run_queue_ns, waited);
}

#[test]
fn a_child_that_dies_and_is_started_again_is_another_process() {
    let shell = Shell::start("while :; do sleep 1000; done");
    let first = until("forked", || children(shell.pid()).first().copied());
    let mut observer = Observer::of(vec![shell.target("server")]);
    assert_eq!(only(&observer.first).processes.ended.processes, 0);
    let before = observer.mark("before");
    kill(first, Signal::KILL);
    let second = until("again", || children(shell.pid()).into_iter().find(|id| *id != first));
    let after = observer.mark("after");
    let named = |sample: &Sample, pid: u32| {
        let members = &only(sample).processes.members;
        members.iter().find(|one| one.pid == pid).map(|one| one.start_ticks)
    };
    assert_eq!((named(&before, first).is_some(), named(&after, first)), (true, None));
    assert_eq!(named(&after, second), stat(second).map(|stat| stat.start));
    assert_eq!(named(&before, shell.pid()), named(&after, shell.pid()));
    assert_eq!((only(&after).processes.count, only(&after).processes.ended.processes), (2, 1));
}

#[test]
fn an_orphan_stays_and_a_tree_that_is_gone_is_no_error() {
    let mut shell = Shell::start("sh -c 'sleep 1000 & wait' & wait");
    let middle = until("forked", || children(shell.pid()).first().copied());
    let leaf = until("forked", || children(middle).first().copied());
    let mut observer = Observer::of(vec![shell.target("app")]);
    kill(middle, Signal::KILL);
    until("ended", || stat(middle).is_none().then_some(()));
    // Its parent is process 1 by now, and the shell has ended, too.
    shell.0.wait().expect("it ends");
    let sample = observer.mark("orphan");
    assert_eq!((ids(&sample), only(&sample).processes.ended.processes), (vec![leaf], 2));
    kill(leaf, Signal::KILL);
    until("ended", || stat(leaf).is_none_or(|stat| stat.has_ended()).then_some(()));
    let (last, end) = observer.end();
    let found = &only(&last).processes;
    assert!(found.members.iter().all(|one| one.state == "Z"), "{found:?}");
    assert!(found.count + found.ended.processes == 3 && end.is_ok(), "{found:?}");
}

#[test]
fn a_target_in_another_network_namespace_has_tcp_of_its_own() {
    let shell = Shell::start("exec unshare --net sleep 1000");
    let namespace = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let (ours, theirs) = (namespace("self"), shell.pid().to_string());
    let moved = until("moved or refused", || {
        let apart = namespace(&theirs).is_some_and(|found| Some(found) != ours);
        let gone = stat(shell.pid()).is_none_or(|stat| stat.has_ended());
        (apart || gone).then_some(apart)
    });
    if !moved {
        return eprintln!("skipped: no network namespace can be made here");
    }
    let observer = Observer::of(vec![shell.target("container")]);
    let sent = |tcp: &wiretrial_observe::observation::Tcp| tcp.tcp.get("OutSegs").copied();
    let inside = only(&observer.first).tcp.as_ref().expect("its own counters");
    // Nothing was ever sent there.
    assert_eq!((sent(inside), inside.tcp_ext.get("ListenDrops")), (Some(0), Some(&0)));
}

#[test]
fn a_process_that_is_not_there_is_named() {
    let mut shell = Shell::start("exit 0");
    shell.0.wait().expect("it ends");
    let settings = wiretrial_observe::Settings {
        targets: vec![shell.target("gone")],
        interval_ns: crate::common::NEVER_NS,
        duration_ns: None,
        places: wiretrial_observe::Places::default(),
    };
    let (input, _open) = std::io::pipe().expect("a pipe");
    let fd = std::os::fd::AsFd::as_fd(&input);
    let mut orders = wiretrial_observe::Orders::new(fd, fd);
    let mut out = Vec::new();
    let said = wiretrial_observe::observe(&settings, &mut orders, &mut out).expect_err("refused");
    let expected = format!("can't observe process {}: it is not there", shell.pid());
    assert_eq!((said.to_string(), out), (expected, Vec::new()));
}
