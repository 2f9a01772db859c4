//! File systems as other machines have them: version 1 of control groups, a container, an old kernel.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use wiretrial_observe::observation::{Group, Sample, Start};
use wiretrial_observe::{Places, Settings, Target};

use crate::common::{NEVER_NS, Observer, only};

const STAT: &str = "10 (a (b) c) S 1 10 10 0 -1 0 0 0 0 0 3 4 5 6 20 0 1 0 77 0 9 0";
const CHILD: &str = "11 (worker) R 10 10 10 0 -1 0 0 0 0 0 30 40 0 0 20 0 1 0 88 0 1 0";
const STRANGER: &str = "12 (other) S 1 12 12 0 -1 0 0 0 0 0 500 500 0 0 20 0 1 0 99 0 1 0";

/// A machine made of files.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().expect("a folder"));
        machine.write("proc/stat", "cpu 1 1 1 1\ncpu0 1 2 3 4\ncpu2 5 6 7 8\n");
        for (file, content) in [("10", STAT), ("11", CHILD), ("12", STRANGER)] {
            machine.write(&format!("proc/{file}/stat"), content);
            machine.write(&format!("proc/{file}/task/{file}/stat"), content);
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("written");
        self
    }

    /// Hierarchies that are mounted: the folder of each, its root, and its controllers.
    fn mounted(&self, mounts: &[(&str, &str, &str)]) -> &Self {
        let line = |(folder, root, controllers): &(&str, &str, &str)| {
            let point = self.path(folder);
            let kind = if controllers.is_empty() { "cgroup2" } else { "cgroup" };
            format!("1 1 0:1 {root} {} rw - {kind} {kind} rw,{controllers}\n", point.display())
        };
        self.write("proc/self/mountinfo", mounts.iter().map(line).collect::<String>())
    }

    fn settings(&self, target: Target) -> Settings {
        let places =
            Places { proc: self.path("proc"), sys: self.path("sys"), boot: self.path("boot") };
        Settings { targets: vec![target], interval_ns: NEVER_NS, duration_ns: None, places }
    }

    fn observe(&self, target: Target) -> (Start, Sample) {
        let mut observer = Observer::with(self.settings(target));
        let sample = observer.mark("now");
        let start = observer.start.clone();
        observer.end().1.expect("it ends well");
        (start, sample)
    }
}

fn tree() -> Target {
    Target::tree("app=10").expect("a target")
}

fn group(path: &Path) -> Target {
    Target::group(&format!("app={}", path.display())).expect("a target")
}

fn of(sample: &Sample) -> &Group {
    only(sample).cgroup.as_ref().expect("a group")
}

fn missing<'a>(start: &'a Start, name: &str) -> Option<&'a str> {
    let source = start.sources.iter().find(|one| one.name == name).expect(name);
    source.missing.as_deref()
}

#[test]
fn an_old_kernel_tells_less_and_says_so() {
    let machine = Machine::new();
    let (start, sample) = machine.observe(tree());
    let found = &only(&sample).processes;
    assert_eq!((found.count, found.user_ticks, found.system_ticks), (2, 33, 44));
    assert_eq!((found.children_user_ticks, found.children_system_ticks), (5, 6));
    assert_eq!(found.rss_bytes, 10 * start.page_bytes);
    assert_eq!((found.on_cpu_ns, found.run_queue_ns, found.pss_bytes), (None, None, None));
    assert_eq!((found.written_bytes, found.descriptors), (None, None));
    let cpus: Vec<u32> = sample.host.cpus.iter().map(|cpu| cpu.cpu).collect();
    assert_eq!((start.cpus, cpus), (2, vec![0, 2]));
    assert_eq!((&sample.host.softnet, &sample.host.tcp), (&None, &None));
    assert_eq!((&only(&sample).cgroup, &start.boot_id), (&None, &None));
    assert_eq!(start.accounting.tick_cpu_accounting, None);
    for (name, why) in [
        ("softnet_stat", "it is not there"),
        ("schedstat", "it is not there"),
        ("smaps_rollup", "it is not there"),
        ("io", "it is not there"),
        ("cgroup", "it is not there"),
        ("kernel configuration", "neither /proc/config.gz nor /boot/config-RELEASE can be read"),
    ] {
        assert_eq!(missing(&start, name), Some(why), "{name}");
    }
}

#[test]
fn times_of_threads_that_are_told_are_summed() {
    let machine = Machine::new();
    machine
        .write("proc/10/task/10/schedstat", "5 7 1\n")
        .write("proc/11/task/11/schedstat", "50 70 1\n");
    let rollup = "0-1 ---p 0 00:00 0 [rollup]\nRss: 9 kB\nPss: 3 kB\n";
    machine.write("proc/10/smaps_rollup", rollup).write("proc/11/smaps_rollup", rollup);
    let found = only(&machine.observe(tree()).1).processes.clone();
    assert_eq!((found.on_cpu_ns, found.run_queue_ns), (Some(55), Some(77)));
    assert_eq!(found.pss_bytes, Some(6 * 1024));
    // One of them may not be read: the sum would be too little.
    fs::remove_file(machine.path("proc/11/smaps_rollup")).expect("removed");
    assert_eq!(only(&machine.observe(tree()).1).processes.pss_bytes, None);
}

#[test]
fn bytes_that_went_to_disks_are_summed_where_all_may_be_read() {
    let machine = Machine::new();
    machine.write("proc/10/io", "wchar: 9\nwrite_bytes: 4096\n");
    assert_eq!(only(&machine.observe(tree()).1).processes.written_bytes, None);
    machine.write("proc/11/io", "wchar: 9\nwrite_bytes: 8192\n");
    assert_eq!(only(&machine.observe(tree()).1).processes.written_bytes, Some(12_288));
}

#[test]
fn threads_that_ended_are_kept_as_they_were_last_seen() {
    let machine = Machine::new();
    machine.write("proc/10/stat", STAT.replace(" 20 0 1 0 77", " 20 0 3 0 77"));
    for (id, times) in [("10", "5 7 1\n"), ("13", "100 200 1\n"), ("14", "1000 2000 1\n")] {
        machine.write(&format!("proc/10/task/{id}/schedstat"), times);
    }
    machine.write("proc/11/task/11/schedstat", "0 0 0\n");
    let mut observer = Observer::with(machine.settings(tree()));
    let found = &only(&observer.first).processes;
    assert_eq!((found.count, found.threads), (2, 4));
    assert_eq!((found.on_cpu_ns, found.run_queue_ns), (Some(1105), Some(2207)));
    fs::remove_dir_all(machine.path("proc/10/task/13")).expect("removed");
    // The same id again is another thread, because its times are less.
    machine.write("proc/10/task/14/schedstat", "1 2 1\n");
    let found = only(&observer.mark("later")).processes.clone();
    assert_eq!((found.on_cpu_ns, found.run_queue_ns), (Some(6), Some(9)));
    assert_eq!((found.ended.on_cpu_ns, found.ended.run_queue_ns), (1100, 2200));
    assert_eq!(found.ended.processes, 0);
}

#[test]
fn the_kernel_s_configuration_is_read_where_it_is() {
    let text =
        "CONFIG_TICK_CPU_ACCOUNTING=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\nCONFIG_HZ=1000\n";
    let machine = Machine::new();
    machine.write("sys/devices/system/cpu/nohz_full", " (null)\n");
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    machine.write(&format!("boot/config-{release}"), text);
    let told = machine.observe(tree()).0.accounting;
    assert!(told.source.is_some_and(|source| source.contains("/boot/config-")));
    assert_eq!((told.tick_cpu_accounting, told.irq_time_accounting), (Some(true), Some(false)));
    assert_eq!((told.virt_cpu_accounting_gen, told.hz), (Some(false), Some(1000)));
    assert_eq!(told.nohz_full, None);
    // That of the kernel itself comes first.
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\nCONFIG_HZ=250\n").expect("packed");
    machine.write("proc/config.gz", packed.finish().expect("packed"));
    machine.write("sys/devices/system/cpu/nohz_full", "2-3\n");
    let told = machine.observe(tree()).0.accounting;
    assert!(told.source.is_some_and(|source| source.ends_with("config.gz")));
    assert_eq!((told.tick_cpu_accounting, told.virt_cpu_accounting_gen), (Some(false), Some(true)));
    assert_eq!((told.hz, told.nohz_full.as_deref()), (Some(250), Some("2-3")));
    machine.write("proc/config.gz", "no gzip");
    assert_eq!(machine.observe(tree()).0.accounting.hz, Some(1000));
}

#[test]
fn version_2_is_read_by_process_folder_and_path() {
    let machine = Machine::new();
    machine.mounted(&[("cgroup", "/", "")]).write("proc/10/cgroup", "0::/app.slice/x\n");
    for (file, content) in [
        (
            "cpu.stat",
            "usage_usec 9\nuser_usec 5\nsystem_usec 4\nnr_periods 3\nnr_throttled 2\nthrottled_usec 1\n",
        ),
        ("cpu.max", "50000 100000\n"),
        ("memory.current", "4096\n"),
        ("memory.peak", "8192\n"),
        ("memory.max", "max\n"),
        ("memory.events", "oom 0\noom_kill 1\n"),
        ("cpu.pressure", "some avg10=0.00 total=11\nfull avg10=0.00 total=10\n"),
        ("cgroup.procs", "10\n0\n"),
        // A group within has processes of its own.
        ("inner/cgroup.procs", "12\n"),
    ] {
        machine.write(&format!("cgroup/app.slice/x/{file}"), content);
    }
    let by_process = machine.observe(tree());
    let by_folder = machine.observe(group(&machine.path("cgroup/app.slice/x")));
    let by_path = machine.observe(group(Path::new("/app.slice/x")));
    let found = of(&by_process.1);
    assert_eq!((found.path.as_str(), &found.versions[..]), ("/app.slice/x", &[2][..]));
    assert_eq!((found.cpu.usage_ns, found.cpu.throttled_ns), (Some(9000), Some(1000)));
    assert_eq!((found.cpu.quota_ns, found.cpu.period_ns), (Some(50_000_000), Some(100_000_000)));
    assert_eq!((found.memory.current_bytes, found.memory.limit_bytes), (Some(4096), None));
    assert_eq!((found.memory.peak_bytes, found.memory.oom_kills), (Some(8192), Some(1)));
    assert_eq!(
        found.pressure.cpu.map(|stall| (stall.some_us, stall.full_us)),
        Some((11, Some(10)))
    );
    assert_eq!((of(&by_folder.1), of(&by_path.1)), (found, found));
    for (start, sample) in [&by_folder, &by_path] {
        assert_eq!(only(sample).processes.count, 2);
        assert_eq!(only(sample).processes.user_ticks, 503);
        assert_eq!(
            (missing(start, "cgroup cpu.stat"), missing(start, "cgroup pressure")),
            (None, None)
        );
    }
    assert_eq!(only(&by_process.1).processes.count, 2, "those that descend from it");
}

#[test]
fn each_controller_of_version_1_has_its_own_path() {
    let machine = Machine::new();
    machine.mounted(&[
        ("v1/cpu,cpuacct", "/", "cpu,cpuacct"),
        ("v1/memory", "/", "memory"),
        ("v1/pids", "/", "pids"),
    ]);
    machine.write("proc/10/cgroup", "3:memory:/m\n2:cpu,cpuacct:/docker/a:b\n1:pids:/\n");
    for (file, content) in [
        ("cpu,cpuacct/docker/a:b/cpuacct.usage", "900\n"),
        ("cpu,cpuacct/docker/a:b/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 77\n"),
        ("cpu,cpuacct/docker/a:b/cpu.cfs_quota_us", "-1\n"),
        ("cpu,cpuacct/docker/a:b/cpu.cfs_period_us", "100000\n"),
        ("memory/m/memory.usage_in_bytes", "4096\n"),
        ("memory/m/memory.limit_in_bytes", "9223372036854771712\n"),
        ("memory/m/memory.oom_control", "oom_kill_disable 0\noom_kill 6\n"),
    ] {
        machine.write(&format!("v1/{file}"), content);
    }
    let (start, sample) = machine.observe(tree());
    let found = of(&sample);
    assert_eq!((found.path.as_str(), &found.versions[..]), ("/docker/a:b", &[1][..]));
    assert_eq!((found.cpu.usage_ns, found.cpu.throttled_ns), (Some(900), Some(77)));
    assert_eq!((found.cpu.quota_ns, found.cpu.period_ns), (None, Some(100_000_000)));
    assert_eq!((found.memory.current_bytes, found.memory.limit_bytes), (Some(4096), None));
    assert_eq!(found.memory.oom_kills, Some(6));
    assert_eq!(missing(&start, "cgroup pressure"), Some("no hierarchy here has it"));
    // Named by the folder of one hierarchy it is found in the others, where it has the same path.
    machine.write("v1/memory/docker/a:b/memory.usage_in_bytes", "5\n");
    let (_, named) = machine.observe(group(&machine.path("v1/cpu,cpuacct/docker/a:b")));
    assert_eq!((of(&named).cpu.usage_ns, of(&named).memory.current_bytes), (Some(900), Some(5)));
}

#[test]
fn beside_version_1_version_2_tells_of_pressure_alone() {
    let machine = Machine::new();
    machine.mounted(&[("unified", "/", ""), ("cpu", "/", "cpu"), ("cpuacct", "/", "cpuacct")]);
    machine.write("proc/10/cgroup", "2:cpuacct:/app\n1:cpu:/app\n0::/\n");
    machine
        .write("unified/cpu.stat", "usage_usec 1\n")
        .write("unified/cpu.pressure", "some total=5\n");
    machine.write("cpu/app/cpu.stat", "nr_periods 8\n").write("cpuacct/app/cpuacct.usage", "9\n");
    let (_, sample) = machine.observe(tree());
    let found = of(&sample);
    assert_eq!((found.path.as_str(), &found.versions[..]), ("/app", &[1, 2][..]));
    assert_eq!((found.cpu.usage_ns, found.cpu.periods), (Some(9), Some(8)));
    assert_eq!(found.pressure.cpu.map(|stall| stall.some_us), Some(5));
}

#[test]
fn in_a_container_the_mount_shows_its_own_group_alone() {
    let machine = Machine::new();
    machine.mounted(&[("cgroup", "/docker/abc", "")]);
    machine
        .write("cgroup/cpu.stat", "usage_usec 7\n")
        .write("cgroup/app/cpu.stat", "usage_usec 3\n");
    for (path, usage) in [("/docker/abc", Some(7000)), ("/docker/abc/app", Some(3000))] {
        machine.write("proc/10/cgroup", format!("0::{path}\n"));
        assert_eq!(of(&machine.observe(tree()).1).cpu.usage_ns, usage, "{path}");
    }
    // Outside of it nothing can be reached.
    for path in ["/docker/other", "/../x", "/docker/abc/../x", "/docker/abcd"] {
        machine.write("proc/10/cgroup", format!("0::{path}\n"));
        let (start, sample) = machine.observe(tree());
        assert_eq!(only(&sample).cgroup, None, "{path}");
        assert_eq!(missing(&start, "cgroup"), Some("it is in no hierarchy that is mounted here"));
    }
}

#[test]
fn a_group_that_goes_leaves_null_and_ended_processes() {
    let machine = Machine::new();
    machine.mounted(&[("cgroup", "/", "")]).write("cgroup/app/cgroup.procs", "10\n");
    machine.write("cgroup/app/cpu.stat", "usage_usec 7\n");
    let mut observer = Observer::with(machine.settings(group(Path::new("/app"))));
    assert_eq!(of(&observer.first).cpu.usage_ns, Some(7000));
    fs::remove_dir_all(machine.path("cgroup/app")).expect("removed");
    let sample = observer.mark("gone");
    assert_eq!(of(&sample).cpu.usage_ns, None);
    let found = &only(&sample).processes;
    assert_eq!((found.count, found.ended.processes, found.ended.user_ticks), (0, 1, 3));
    assert_eq!(found.pss_bytes, None);
    // The same id again is another process if it was started at another time.
    machine
        .write("cgroup/app/cgroup.procs", "10\n")
        .write("proc/10/stat", STAT.replace(" 77 ", " 777 "));
    let found = only(&observer.mark("again")).processes.clone();
    assert_eq!((found.members[0].start_ticks, found.ended.processes), (777, 1));
    machine.write("proc/10/stat", STAT.replace(" 77 ", " 778 "));
    let found = only(&observer.mark("and again")).processes.clone();
    assert_eq!((found.members[0].start_ticks, found.ended.processes), (778, 2));
}

#[test]
fn a_stranger_with_the_id_of_a_child_is_not_taken_in() {
    let machine = Machine::new();
    let mut observer = Observer::with(machine.settings(tree()));
    assert_eq!(only(&observer.first).processes.count, 2);
    let stranger = CHILD.replace("R 10 ", "R 1 ").replace(" 88 ", " 888 ");
    machine.write("proc/11/stat", stranger);
    let sample = observer.mark("another");
    let found = &only(&sample).processes;
    assert_eq!((found.count, found.ended.processes, found.ended.user_ticks), (1, 1, 30));
}

#[test]
fn long_lists_are_cut_and_sums_are_whole() {
    let machine = Machine::new();
    for pid in 100..200 {
        let line = CHILD.replace("11 (", &format!("{pid} (")).replace(" 88 ", &format!(" {pid} "));
        machine.write(&format!("proc/{pid}/stat"), line);
    }
    let (_, sample) = machine.observe(tree());
    let found = &only(&sample).processes;
    assert_eq!((found.count, found.members.len(), found.members_left_out), (102, 64, 38));
    assert_eq!(found.user_ticks, 3 + 101 * 30);
    assert_eq!((found.members[0].pid, found.members[1].pid, found.members[2].pid), (10, 11, 100));
}
