//! When samples come, and what each holds of the host.

use std::os::fd::AsFd as _;

use crate::common::{NEVER_NS, Observer, Shell};
use rustix::time::{ClockId, clock_gettime};
use wiretrial_observe::observation::{End, Sample, Why};
use wiretrial_observe::{ObserveError, Orders, Places, Settings, Target, observe};

fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn settings(interval_ns: u64, duration_ns: Option<u64>) -> Settings {
    Settings { targets: Vec::new(), interval_ns, duration_ns, places: Places::default() }
}

#[test]
fn a_mark_is_taken_between_its_line_and_its_answer() {
    let mut observer = Observer::of(Vec::new());
    assert_eq!((observer.first.why, observer.first.end), (Why::First, None));
    for name in ["load begins", "load ends"] {
        let asked = monotonic_ns();
        let sample = observer.mark(name);
        let answered = monotonic_ns();
        assert_eq!((sample.why, sample.mark.as_deref()), (Why::Mark, Some(name)));
        assert!(asked <= sample.before.monotonic_ns);
        assert!(sample.before.monotonic_ns <= sample.after.monotonic_ns);
        assert!(sample.after.monotonic_ns <= answered);
        assert_eq!(sample.reading_ns, sample.after.monotonic_ns - sample.before.monotonic_ns);
    }
    // Marks that come together are each answered, in their order.
    observer.say("mark a\nmark b");
    let names = [observer.next(), observer.next()].map(|sample| sample.mark.expect("a mark"));
    assert_eq!(names, ["a", "b"]);
    let (last, end) = observer.end();
    assert_eq!((last.why, last.end, last.mark), (Why::Last, Some(End::Input), None));
    assert_eq!(end.expect("it ends well"), End::Input);
}

#[test]
fn samples_come_at_their_interval_until_the_time_is_up() {
    let interval = 20_000_000;
    let mut observer = Observer::with(settings(interval, Some(300_000_000)));
    let began = observer.start.at.monotonic_ns;
    let mut samples: Vec<Sample> = vec![observer.first.clone()];
    while samples[samples.len() - 1].end.is_none() {
        samples.push(observer.next());
    }
    let last = &samples[samples.len() - 1];
    assert_eq!((last.why, last.end), (Why::Last, Some(End::Time)));
    assert!(last.before.monotonic_ns >= began + 300_000_000);
    let between = &samples[1..samples.len() - 1];
    assert!(!between.is_empty() && between.len() <= 14, "{}", between.len());
    for pair in between.windows(2) {
        assert_eq!(pair[0].why, Why::Interval);
        // Each on its own stretch of the grid, however late it comes.
        let slots = pair.iter().map(|one| (one.before.monotonic_ns - began) / interval);
        let slots: Vec<u64> = slots.collect();
        assert!(slots[0] < slots[1], "{slots:?}");
        assert!(pair[0].own_cpu_ns <= pair[1].own_cpu_ns);
    }
}

#[test]
fn the_first_line_names_the_host_and_each_source() {
    let shell = Shell::start("sleep 1000");
    let observer = Observer::of(vec![shell.target("app")]);
    let start = &observer.start;
    assert_eq!((start.schema.as_str(), start.version), ("wiretrial-observation", 1));
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    assert_eq!(start.boot_id.as_deref(), boot.as_deref().map(str::trim));
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a kernel");
    assert_eq!((start.kernel.as_str(), start.interval_ns), (release.trim(), NEVER_NS));
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    assert!(start.host_hash.len() == 16 && !start.host_hash.contains(name.trim()));
    assert!(start.clock_ticks > 0 && start.page_bytes >= 4096);
    assert_eq!(start.cpus as usize, observer.first.host.cpus.len());
    assert_eq!((start.targets[0].pid, &start.targets[0].cgroup), (Some(shell.pid()), &None));
    let missing = |name: &str, target: Option<&str>| {
        let ours = |one: &&wiretrial_observe::observation::Source| {
            one.name == name && one.target.as_deref() == target
        };
        start.sources.iter().find(ours).map(|one| one.missing.clone()).expect(name)
    };
    assert_eq!(missing("stat", None), None);
    assert_eq!(missing("stat", Some("app")), None);
    let host = &observer.first.host;
    assert_eq!(missing("softnet_stat", None).is_none(), host.softnet.is_some());
    assert_eq!(missing("scaling_cur_freq", None).is_none(), host.frequencies.is_some());
    assert_eq!(missing("pressure", None).is_none(), host.pressure.cpu.is_some());
    assert_eq!(missing("kernel configuration", None).is_none(), start.accounting.hz.is_some());
    let tcp = host.tcp.as_ref().expect("TCP is counted");
    assert!(tcp.tcp.contains_key("RetransSegs") && tcp.tcp_ext.contains_key("ListenOverflows"));
    // It shares our network namespace, whose counters are the host's.
    assert_eq!(crate::common::only(&observer.first).tcp, None);
}

#[test]
fn a_line_that_is_no_order_ends_it_with_the_last_sample() {
    let mut observer = Observer::of(Vec::new());
    observer.say("pause");
    let (last, end) = observer.end();
    assert_eq!((last.why, last.end), (Why::Last, Some(End::Order)));
    let said = end.expect_err("refused").to_string();
    assert_eq!(said, "standard input: 'pause' is no order; write `mark NAME` or `stop`");
}

#[test]
fn a_signal_ends_it_with_the_last_sample() {
    let (input, _open) = std::io::pipe().expect("a pipe");
    let (signals, mut signalled) = std::io::pipe().expect("a pipe");
    std::io::Write::write_all(&mut signalled, &[15]).expect("written");
    let mut out = Vec::new();
    let mut orders = Orders::new(input.as_fd(), signals.as_fd());
    let end = observe(&settings(NEVER_NS, None), &mut orders, &mut out).expect("it ends well");
    let lines: Vec<&str> = std::str::from_utf8(&out).expect("UTF-8").lines().collect();
    assert_eq!((end, lines.len()), (End::Signal, 3));
    let last: serde_json::Value = serde_json::from_str(lines[2]).expect("JSON");
    assert_eq!((last["kind"].as_str(), last["end"].as_str()), (Some("sample"), Some("signal")));
}

#[test]
fn what_makes_no_sense_is_refused_and_an_output_that_is_closed_is_told() {
    let (input, _open) = std::io::pipe().expect("a pipe");
    let run = |settings: &Settings, out: &mut dyn std::io::Write| {
        let mut out = out;
        observe(settings, &mut Orders::new(input.as_fd(), input.as_fd()), &mut out)
    };
    let same = vec![Target::tree("a=1").expect("one"), Target::group("a=/").expect("another")];
    for (settings, expected) in [
        (settings(9_999_999, None), "the interval is shorter than 10ms"),
        (Settings { targets: same, ..settings(NEVER_NS, None) }, "two targets have the name 'a'"),
        (
            Settings {
                targets: vec![Target::tree("1").expect("one"); 65],
                ..settings(NEVER_NS, None)
            },
            "65 targets are more than 64",
        ),
    ] {
        let said = run(&settings, &mut Vec::new()).expect_err(expected);
        assert!(
            matches!(&said, ObserveError::Usage(_)) && said.to_string().contains(expected),
            "{said}"
        );
    }
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let said = run(&settings(NEVER_NS, None), &mut writer).expect_err("closed");
    assert!(matches!(said, ObserveError::Output(_)), "{said}");
}
