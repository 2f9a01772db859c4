//! The whole machine: its counters, and the facts of the first line.
//!
//! Knows where /proc and /sys keep them; must not know targets.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::files::{self, Places};
use crate::observation::{Accounting, Frequency, Host, Pressure, Tcp};
use crate::parse::{config, machine, net};

/// The most CPUs whose frequency is read.
const MOST_CPUS: usize = 8192;

/// The machine's counters now.
pub(crate) fn read(places: &Places) -> Host {
    let proc = |name: &str| files::read(&places.proc.join(name)).ok();
    let stat = machine::stat(&proc("stat").unwrap_or_default());
    let pressure = |name: &str| machine::pressure(&proc(name)?);
    let online: Vec<u32> = stat.cpus.iter().map(|cpu| cpu.cpu).take(MOST_CPUS).collect();
    Host {
        cpus: stat.cpus,
        context_switches: stat.context_switches,
        forks: stat.forks,
        running: stat.running,
        blocked: stat.blocked,
        softnet: proc("net/softnet_stat").map(|text| machine::softnet(&text)),
        tcp: tcp(&places.proc.join("net")),
        frequencies: frequencies(places, &online),
        pressure: Pressure {
            cpu: pressure("pressure/cpu"),
            memory: pressure("pressure/memory"),
            io: pressure("pressure/io"),
        },
    }
}

/// The counters of TCP in a folder `net` of /proc; none where one of the files can't be read.
pub(crate) fn tcp(folder: &Path) -> Option<Tcp> {
    let snmp = files::read(&folder.join("snmp")).ok()?;
    let netstat = files::read(&folder.join("netstat")).ok()?;
    let mut extended = net::counters(&netstat, "TcpExt")?;
    extended.retain(|name, _| net::TCP_EXT.contains(&name.as_str()));
    Some(Tcp { tcp: net::counters(&snmp, "Tcp")?, tcp_ext: extended })
}

fn frequencies(places: &Places, online: &[u32]) -> Option<Vec<Frequency>> {
    let of = |cpu: u32| {
        let text = files::read(&frequency(places, cpu)).ok()?;
        Some(Frequency { cpu, khz: text.trim().parse().ok()? })
    };
    let found: Vec<Frequency> = online.iter().filter_map(|cpu| of(*cpu)).collect();
    (!found.is_empty()).then_some(found)
}

fn frequency(places: &Places, cpu: u32) -> PathBuf {
    places.sys.join(format!("devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"))
}

/// What can be read of the machine: name, and why not.
pub(crate) fn sources(
    places: &Places,
    accounting: &Accounting,
) -> Vec<(&'static str, Option<String>)> {
    let file = |path: PathBuf| files::read(&path).err().map(|error| files::reason(&error));
    let configured = match accounting.source {
        Some(_) => None,
        None => Some("neither /proc/config.gz nor /boot/config-RELEASE can be read".to_owned()),
    };
    let first = machine::stat(&files::read(&places.proc.join("stat")).unwrap_or_default());
    let cpu = first.cpus.first().map_or(0, |cpu| cpu.cpu);
    vec![
        ("stat", file(places.proc.join("stat"))),
        ("softnet_stat", file(places.proc.join("net/softnet_stat"))),
        ("snmp", file(places.proc.join("net/snmp"))),
        ("netstat", file(places.proc.join("net/netstat"))),
        ("scaling_cur_freq", file(frequency(places, cpu))),
        ("pressure", file(places.proc.join("pressure/cpu"))),
        ("kernel configuration", configured),
    ]
}

/// The CPUs that are online.
pub(crate) fn cpus(places: &Places) -> u32 {
    let text = files::read(&places.proc.join("stat")).unwrap_or_default();
    u32::try_from(machine::stat(&text).cpus.len()).unwrap_or(u32::MAX)
}

/// What names this boot of this machine.
pub(crate) fn boot_id(places: &Places) -> Option<String> {
    let text = files::read(&places.proc.join("sys/kernel/random/boot_id")).ok()?;
    Some(text.trim().to_owned())
}

/// A host's name in a form that tells it apart and is not it.
pub(crate) fn hash(name: &[u8]) -> String {
    let digest = Sha256::digest(name);
    let first: [u8; 8] = std::array::from_fn(|index| digest[index]);
    format!("{:016x}", u64::from_be_bytes(first))
}

/// What the kernel `release` was built with.
pub(crate) fn accounting(places: &Places, release: &str) -> Accounting {
    let running = places.proc.join("config.gz");
    let installed = places.boot.join(format!("config-{release}"));
    let read = files::read_gzip(&running).map(|text| (running, text));
    let found = read.or_else(|_| files::read(&installed).map(|text| (installed, text)));
    let nohz_full = files::read(&places.sys.join("devices/system/cpu/nohz_full")).ok();
    // A kernel without such CPUs writes ` (null)`.
    let nohz_full = nohz_full
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty() && text != "(null)");
    let Some((source, text)) = found.ok().filter(|(_, text)| config::is_one(text)) else {
        return Accounting { nohz_full, ..Accounting::default() };
    };
    let set = |name: &str| Some(config::is_set(&text, name));
    Accounting {
        source: Some(source.to_string_lossy().into_owned()),
        tick_cpu_accounting: set("TICK_CPU_ACCOUNTING"),
        virt_cpu_accounting_gen: set("VIRT_CPU_ACCOUNTING_GEN"),
        virt_cpu_accounting_native: set("VIRT_CPU_ACCOUNTING_NATIVE"),
        irq_time_accounting: set("IRQ_TIME_ACCOUNTING"),
        sched_info: set("SCHED_INFO"),
        hz: config::value(&text, "HZ").and_then(|hz| hz.parse().ok()),
        nohz_full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_s_name_is_not_told() {
        // printf box | sha256sum
        assert_eq!(hash(b"box"), "26f8567f25691822");
    }
}
