//! Control groups: where a process is, where hierarchies are mounted, and the files of a group.

use crate::observation::{GroupCpu, GroupMemory};

use super::{keyed, number};

/// One line of `/proc/PID/cgroup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Controllers of a hierarchy of version 1; empty for version 2.
    pub controllers: Vec<String>,
    /// The group's path within the hierarchy.
    pub path: String,
}

/// Reads `/proc/PID/cgroup`; a path may hold colons.
pub fn memberships(text: &str) -> Vec<Membership> {
    text.lines().filter_map(membership).collect()
}

fn membership(line: &str) -> Option<Membership> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    // What was removed while somebody is still in it.
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.starts_with('/')
        .then(|| Membership { controllers: split(controllers), path: path.to_owned() })
}

/// A hierarchy that is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The folder of the hierarchy that is mounted: `/`, or a container's own.
    pub root: String,
    /// Where.
    pub point: String,
    /// Version 1: its controllers. None: version 2.
    pub controllers: Option<Vec<String>>,
}

/// Reads `/proc/self/mountinfo`, and leaves out what is no hierarchy of control groups.
pub fn mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(3);
    let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
    let mut fields = after.split(' ');
    let controllers = match fields.next()? {
        "cgroup2" => None,
        "cgroup" => Some(split(fields.nth(1)?)),
        _ => return None,
    };
    Some(Mount { root, point, controllers })
}

fn split(list: &str) -> Vec<String> {
    list.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Blanks, line ends and backslashes stand as three octal digits.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut found = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(byte) = digits.filter(u8::is_ascii) {
            found.push(char::from(byte));
            found.push_str(&part[3..]);
        } else {
            found.push('\\');
            found.push_str(part);
        }
    }
    found
}

/// The path of a group below what a mount shows; none where it lies outside.
pub fn below<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    let outside = rest.split('/').any(|part| part == "..");
    ((rest.is_empty() || rest.starts_with('/')) && !outside).then_some(rest)
}

/// `cpu.stat` and `cpu.max` of version 2.
pub fn cpu_of_2(stat: Option<&str>, max: Option<&str>) -> GroupCpu {
    let ns = |key: &str| keyed(stat?, key)?.checked_mul(1000);
    let count = |key: &str| keyed(stat?, key);
    // `max` in the place of a quota is no limit.
    let mut words = max.unwrap_or_default().split_ascii_whitespace();
    let quota = number::<u64>(words.next());
    GroupCpu {
        usage_ns: ns("usage_usec"),
        user_ns: ns("user_usec"),
        system_ns: ns("system_usec"),
        periods: count("nr_periods"),
        throttled_periods: count("nr_throttled"),
        throttled_ns: ns("throttled_usec"),
        quota_ns: quota.and_then(|us| us.checked_mul(1000)),
        period_ns: number::<u64>(words.next()).and_then(|us| us.checked_mul(1000)),
    }
}

/// The files of version 1 that tell of CPU time.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuFilesOf1<'a> {
    /// `cpuacct.usage`.
    pub usage: Option<&'a str>,
    /// `cpuacct.stat`, in clock ticks.
    pub modes: Option<&'a str>,
    /// `cpu.stat`.
    pub stat: Option<&'a str>,
    /// `cpu.cfs_quota_us`; -1: no limit.
    pub quota: Option<&'a str>,
    /// `cpu.cfs_period_us`.
    pub period: Option<&'a str>,
}

/// CPU time of a group of version 1. `tick_ns`: the length of a clock tick.
pub fn cpu_of_1(files: &CpuFilesOf1<'_>, tick_ns: u64) -> GroupCpu {
    let ticks = |key: &str| keyed(files.modes?, key)?.checked_mul(tick_ns);
    let count = |key: &str| keyed(files.stat?, key);
    let microseconds = |text: Option<&str>| number::<u64>(text).and_then(|us| us.checked_mul(1000));
    GroupCpu {
        usage_ns: number(files.usage),
        user_ns: ticks("user"),
        system_ns: ticks("system"),
        periods: count("nr_periods"),
        throttled_periods: count("nr_throttled"),
        throttled_ns: count("throttled_time"),
        quota_ns: microseconds(files.quota),
        period_ns: microseconds(files.period),
    }
}

/// Memory of a group: version 2 calls the files `memory.current`, `memory.peak` (since Linux 5.19),
/// `memory.max` and `memory.events`; version 1 `memory.usage_in_bytes`, `memory.max_usage_in_bytes`,
/// `memory.limit_in_bytes` and `memory.oom_control`.
pub fn memory(
    current: Option<&str>,
    peak: Option<&str>,
    limit: Option<&str>,
    events: Option<&str>,
) -> GroupMemory {
    GroupMemory {
        current_bytes: number(current),
        peak_bytes: number(peak),
        limit_bytes: number(limit).filter(|limit| *limit < UNLIMITED),
        oom_kills: events.and_then(|text| keyed(text, "oom_kill")),
    }
}

/// Version 1 writes no limit as the largest signed number, less a part of a page.
const UNLIMITED: u64 = 1 << 62;

/// The ids of processes in `cgroup.procs`; those of another namespace of processes stand as 0.
pub fn members(text: &str) -> impl Iterator<Item = u32> {
    text.lines().filter_map(|line| number(Some(line))).filter(|pid| *pid > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_memberships() {
        let text = "12:cpu,cpuacct:/docker/abc\n3:name=systemd:/a:b\n0::/system.slice/x.service\n\
                    5:memory:/gone (deleted)\nodd\n1:2\n4:pids:relative\n";
        let found: Vec<_> = memberships(text)
            .into_iter()
            .map(|one| (one.controllers.join("+"), one.path))
            .collect();
        let expected = [
            ("cpu+cpuacct", "/docker/abc"),
            ("name=systemd", "/a:b"),
            ("", "/system.slice/x.service"),
            ("memory", "/gone"),
        ];
        assert_eq!(found, expected.map(|(names, path)| (names.to_owned(), path.to_owned())));
    }

    #[test]
    fn table_of_mounts() {
        let text = "31 23 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n\
                    36 23 0:31 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                    40 23 0:40 / /mnt/with\\040blank\\134 rw shared:1 master:2 - cgroup2 none rw\n\
                    41 23 0:41 / /tmp rw - tmpfs tmpfs rw\nodd\n1 2 3 - cgroup2\n1 2 3 / /x rw - cgroup x\n";
        let found = mounts(text);
        assert_eq!(found.len(), 3);
        assert_eq!(
            (found[0].point.as_str(), &found[0].controllers),
            ("/sys/fs/cgroup/unified", &None)
        );
        assert_eq!(found[1].root, "/docker/abc");
        let controllers = ["rw", "cpu", "cpuacct"].map(str::to_owned).to_vec();
        assert_eq!(found[1].controllers, Some(controllers));
        assert_eq!(found[2].point, "/mnt/with blank\\");
    }

    #[test]
    fn table_of_escapes() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a\\040b", "a b"),
            ("a\\04", "a\\04"),
            ("\\", "\\"),
            ("\\999", "\\999"),
            ("\\377x", "\\377x"),
            ("\\0é", "\\0é"),
        ] {
            assert_eq!(unescape(text), expected);
        }
    }

    #[test]
    fn table_of_paths_below() {
        for (path, root, expected) in [
            ("/a/b", "/", Some("/a/b")),
            ("/", "/", Some("/")),
            ("/docker/abc", "/docker/abc", Some("")),
            ("/docker/abc/x", "/docker/abc", Some("/x")),
            ("/docker/abcd", "/docker/abc", None),
            ("/elsewhere", "/docker/abc", None),
            ("/../x", "/", None),
        ] {
            assert_eq!(below(path, root), expected, "{path} below {root}");
        }
    }

    #[test]
    fn version_2_tells_of_cpu_and_memory() {
        let stat = "usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_periods 7\nnr_throttled 6\nthrottled_usec 4\n";
        let limited = cpu_of_2(Some(stat), Some("50000 100000\n"));
        assert_eq!(
            (limited.usage_ns, limited.user_ns, limited.system_ns),
            (Some(5000), Some(3000), Some(2000))
        );
        assert_eq!((limited.periods, limited.throttled_periods), (Some(7), Some(6)));
        assert_eq!(limited.throttled_ns, Some(4000));
        assert_eq!((limited.quota_ns, limited.period_ns), (Some(50_000_000), Some(100_000_000)));
        let free = cpu_of_2(Some("usage_usec 5\n"), Some("max 100000\n"));
        assert_eq!((free.quota_ns, free.period_ns, free.periods), (None, Some(100_000_000), None));
        assert_eq!(cpu_of_2(None, None), GroupCpu::default());
        let huge = cpu_of_2(Some("usage_usec 18446744073709551615"), Some("18446744073709551615"));
        assert_eq!(huge, GroupCpu::default());
        let events = "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n";
        let found = memory(Some("4096\n"), Some("8192\n"), Some("max\n"), Some(events));
        let expected = GroupMemory {
            current_bytes: Some(4096),
            peak_bytes: Some(8192),
            limit_bytes: None,
            oom_kills: Some(2),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn version_1_tells_of_cpu_and_memory() {
        let files = CpuFilesOf1 {
            usage: Some("123456789\n"),
            modes: Some("user 7\nsystem 3\n"),
            stat: Some("nr_periods 9\nnr_throttled 8\nthrottled_time 77\n"),
            quota: Some("20000\n"),
            period: Some("100000\n"),
        };
        let found = cpu_of_1(&files, 10_000_000);
        assert_eq!((found.usage_ns, found.user_ns), (Some(123_456_789), Some(70_000_000)));
        assert_eq!((found.system_ns, found.throttled_ns), (Some(30_000_000), Some(77)));
        assert_eq!((found.quota_ns, found.period_ns), (Some(20_000_000), Some(100_000_000)));
        let free = cpu_of_1(&CpuFilesOf1 { quota: Some("-1\n"), ..files }, 10_000_000);
        assert_eq!((free.quota_ns, free.periods), (None, Some(9)));
        assert_eq!(cpu_of_1(&CpuFilesOf1::default(), 1), GroupCpu::default());
        let control = "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n";
        let found = memory(Some("1"), Some("2"), Some("9223372036854771712\n"), Some(control));
        assert_eq!((found.limit_bytes, found.oom_kills), (None, Some(4)));
        assert_eq!(memory(None, None, Some("1048576"), None).limit_bytes, Some(1_048_576));
    }

    #[test]
    fn processes_of_other_namespaces_are_left_out() {
        assert_eq!(members("12\n0\n\nx\n7\n").collect::<Vec<_>>(), [12, 7]);
    }
}
