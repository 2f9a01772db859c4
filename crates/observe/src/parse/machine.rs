//! Files of the whole machine: `/proc/stat`, softnet, pressure.

use crate::observation::{CpuTicks, Softnet, Stall};

use super::number;

/// What `/proc/stat` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stat {
    /// Of each CPU that is online; the sum of all is left out.
    pub cpus: Vec<CpuTicks>,
    /// Context switches.
    pub context_switches: Option<u64>,
    /// Processes and threads made.
    pub forks: Option<u64>,
    /// Threads that can run.
    pub running: Option<u64>,
    /// Threads that wait for a disk.
    pub blocked: Option<u64>,
}

/// Reads `/proc/stat`.
pub fn stat(text: &str) -> Stat {
    let mut found = Stat::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        match name {
            "ctxt" => found.context_switches = number(words.next()),
            "processes" => found.forks = number(words.next()),
            "procs_running" => found.running = number(words.next()),
            "procs_blocked" => found.blocked = number(words.next()),
            _ => found.cpus.extend(cpu(name, words)),
        }
    }
    found
}

/// One CPU; kernels before 2.6.33 have fewer columns.
fn cpu<'a>(name: &str, mut words: impl Iterator<Item = &'a str>) -> Option<CpuTicks> {
    let cpu = name.strip_prefix("cpu")?.parse().ok()?;
    let mut next = || number(words.next());
    Some(CpuTicks {
        cpu,
        user: next()?,
        nice: next()?,
        system: next()?,
        idle: next()?,
        iowait: next(),
        irq: next(),
        softirq: next(),
        steal: next(),
        guest: next(),
        guest_nice: next(),
    })
}

/// Reads `/proc/net/softnet_stat`: a line per CPU that is online, columns in hexadecimal. The column
/// of the backlog came with Linux 5.10, that of the CPU's number with 5.14.
pub fn softnet(text: &str) -> Vec<Softnet> {
    text.lines().filter_map(softnet_of).collect()
}

fn softnet_of(line: &str) -> Option<Softnet> {
    let columns: Vec<Option<u64>> =
        line.split_ascii_whitespace().map(|word| u64::from_str_radix(word, 16).ok()).collect();
    let column = |index: usize| columns.get(index).copied().flatten();
    Some(Softnet {
        cpu: column(12).and_then(|cpu| u32::try_from(cpu).ok()),
        processed: column(0)?,
        dropped: column(1)?,
        time_squeeze: column(2)?,
        received_rps: column(9),
        flow_limited: column(10),
        backlog: column(11),
    })
}

/// Reads a file of pressure, of the machine or of a control group.
pub fn pressure(text: &str) -> Option<Stall> {
    let total = |of: &str| {
        text.lines().find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let ours = words.next() == Some(of);
            let mut totals = words.filter_map(|word| word.strip_prefix("total="));
            if ours { number(totals.next()) } else { None }
        })
    };
    Some(Stall { some_us: total("some")?, full_us: total("full") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_s_counters_are_read_and_others_left_out() {
        let found = stat(
            "cpu  3 0 3 3 3 0 3 3 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu3 1 2 3 4\n\
                          intr 5 0 1\nctxt 569253\nbtime 1\nprocesses 77\nprocs_running 2\nprocs_blocked 0\n\
                          softirq 9 1\ncpux 1 2 3 4\ncpu4 1 2\ncpufreq\n",
        );
        let numbers: Vec<u32> = found.cpus.iter().map(|cpu| cpu.cpu).collect();
        assert_eq!(numbers, [0, 3]);
        let first = &found.cpus[0];
        assert_eq!((first.user, first.nice, first.system, first.idle), (1, 2, 3, 4));
        assert_eq!((first.iowait, first.irq, first.softirq), (Some(5), Some(6), Some(7)));
        assert_eq!((first.steal, first.guest, first.guest_nice), (Some(8), Some(9), Some(10)));
        assert_eq!((found.cpus[1].idle, found.cpus[1].iowait), (4, None));
        assert_eq!((found.context_switches, found.forks), (Some(569_253), Some(77)));
        assert_eq!((found.running, found.blocked), (Some(2), Some(0)));
        assert_eq!(stat("ctxt\nctxt x"), Stat::default());
    }

    #[test]
    fn table_of_softnet() {
        let newer =
            "00063728 00000001 0000000a 0 0 0 0 0 0 0000000b 0000000c 0000000d 00000003 0 0";
        let found = softnet(&format!("{newer}\n"));
        assert_eq!((found[0].cpu, found[0].processed), (Some(3), 0x63728));
        assert_eq!((found[0].dropped, found[0].time_squeeze), (1, 10));
        assert_eq!((found[0].received_rps, found[0].flow_limited), (Some(11), Some(12)));
        assert_eq!(found[0].backlog, Some(13));
        let older = softnet("00000005 00000000 00000000 0 0 0 0 0 0 00000001 00000002\n");
        assert_eq!((older[0].cpu, older[0].backlog, older[0].flow_limited), (None, None, Some(2)));
        assert_eq!(softnet("\n1 2\nno hex here\n"), []);
    }

    #[test]
    fn table_of_pressure() {
        let both = "some avg10=0.00 avg60=0.12 avg300=0.00 total=123\nfull avg10=0.00 total=7\n";
        assert_eq!(pressure(both), Some(Stall { some_us: 123, full_us: Some(7) }));
        assert_eq!(pressure("some total=5"), Some(Stall { some_us: 5, full_us: None }));
        for wrong in ["", "full total=5", "some avg10=0.00", "some total=x", "some total="] {
            assert_eq!(pressure(wrong), None, "{wrong}");
        }
    }
}
