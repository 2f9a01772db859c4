//! What this machine must have for the plan: every limit that is too low, with its arithmetic, and
//! what to do about all of them.
//!
//! Knows limits of the process, of the kernel, and of a server on this machine; must not ask the
//! target anything.

mod remedy;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use wiretrial_net::machine::{file_headroom, local_ports, raise_descriptor_limit};
use wiretrial_net::{LocalServer, local_server};

use crate::plan::{Plan, redaction};

/// Descriptors that the engine needs beside its connections.
const OWN_DESCRIPTORS: u64 = 60;
/// Descriptors of each worker's poller. A table of a worker's own begins as a copy of the process's,
/// and may hold those of all others.
const POLLER_DESCRIPTORS: u64 = 4;
/// As many threads as are worth proposing.
const MOST_THREADS: u64 = 1024;
/// Below every usual limit of a server: it need not be looked for.
const FEW_CONNECTIONS: u64 = 200;
/// A server that has not closed anything in so many looks keeps what it has.
const LOOKS_AT_REST: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Connections that a busy machine opens in a millisecond, at least.
const OPENED_PER_MS: u64 = 1;

/// Where the descriptors of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    /// All in the table of the process.
    Shared,
    /// Each worker's in one of its own, as one is too small for all.
    PerWorker,
}

/// What so many connections need and this machine does not allow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shortage {
    /// One line per limit: what is needed, and what there is.
    pub limits: Vec<String>,
    /// What has to be done before, one line each.
    pub first: Vec<String>,
    /// Flags of `load` that satisfy the generator's limits, each with its value.
    pub flags: Vec<(&'static str, String)>,
}

impl Shortage {
    /// The same, and how a command line has to read so that the generator's limits are kept.
    pub fn with_command(&self, words: &[String]) -> String {
        let shown = Self { flags: Vec::new(), ..self.clone() };
        if self.flags.is_empty() {
            return shown.to_string();
        }
        let mut words = redaction::command(words);
        for (flag, value) in &self.flags {
            let aliases = if *flag == "--threads" { [*flag, "-t"] } else { [*flag, *flag] };
            words = remedy::without(&words, &aliases);
            words.extend([(*flag).to_owned(), value.clone()]);
        }
        format!("{shown}\nrun: {}", remedy::line(&words))
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.limits.join("\n"))?;
        for line in &self.first {
            write!(f, "\nfirst: {line}")?;
        }
        if !self.flags.is_empty() {
            write!(f, "\nuse:")?;
        }
        self.flags.iter().try_for_each(|(flag, value)| write!(f, " {flag} {value}"))
    }
}

/// Checks the plan against all limits.
pub(super) fn check(plan: &Plan, candidates: &[SocketAddr]) -> Result<Tables, Shortage> {
    let connections = u64::from(plan.load.connections);
    let mut short = Shortage::default();
    let limit = raise_descriptor_limit().soft;
    let tables = tables(connections, plan.generator.threads.into(), limit, &mut short);
    check_files(connections, file_headroom(), &mut short);
    if let Some(ports) = local_ports() {
        check_ports(plan, candidates, ports, &mut short);
    }
    let all = u64::from(plan.share.connections);
    // A server of QUIC has one socket for all of them.
    if all > FEW_CONNECTIONS && !plan.target.http3 {
        // Several addresses have several servers, of which each has a part.
        let part = all.div_ceil(plan.target.addresses.len().max(1) as u64);
        let look = |address: &SocketAddr| settled(part, || local_server(*address), pause);
        let servers = candidates.iter().filter_map(look);
        if let Some(server) = servers.min_by_key(|server| server.capacity) {
            check_server(part, &server, &mut short);
        }
    }
    if short.limits.is_empty() {
        return Ok(tables);
    }
    if plan.phases.connect.0 / 1_000_000 < connections / OPENED_PER_MS {
        let seconds = (connections / OPENED_PER_MS).div_ceil(1000);
        short.flags.push(("--connect-timeout", format!("{seconds}s")));
    }
    Err(short)
}

fn tables(connections: u64, threads: u64, limit: u64, short: &mut Shortage) -> Tables {
    let needed = connections + OWN_DESCRIPTORS + POLLER_DESCRIPTORS * threads;
    if needed <= limit {
        return Tables::Shared;
    }
    let own = |threads: u64| OWN_DESCRIPTORS + POLLER_DESCRIPTORS * threads;
    let fits = |threads: u64| connections.div_ceil(threads) + own(threads) <= limit;
    if threads > 1 && fits(threads) {
        return Tables::PerWorker;
    }
    let what = format!("{connections} connections need {needed} descriptors, the limit is {limit}");
    if let Some(threads) = (2..=MOST_THREADS).find(|&threads| fits(threads)) {
        short.limits.push(format!("{what} (ulimit -n); each thread can have a table of its own"));
        short.flags.push(("--threads", threads.to_string()));
    } else {
        short.limits.push(format!("{what} (ulimit -n)"));
        short.first.push(format!("raise the limit of this shell: ulimit -n {needed}"));
    }
    Tables::Shared
}

fn check_files(connections: u64, headroom: Option<u64>, short: &mut Shortage) {
    let Some(headroom) = headroom.filter(|headroom| *headroom < connections) else { return };
    short.limits.push(format!(
        "{connections} connections need as many open files, and this machine has room for {headroom} more (fs.file-max); those of a server that runs here come on top"
    ));
    let missing = 2 * connections;
    short.first.push(format!("raise fs.file-max (sysctl -w fs.file-max=N) by {missing} or more"));
}

/// A local port serves one connection per peer and source. Connections take their addresses and
/// sources in turn, so that as many pairs are in use as both have in common multiples.
fn check_ports(plan: &Plan, candidates: &[SocketAddr], ports: u64, short: &mut Shortage) {
    let sources = plan.target.sources.len().max(1) as u64;
    let addresses = plan.target.addresses.len().max(1) as u64;
    let pairs = least_common_multiple(sources, addresses);
    let connections = u64::from(plan.load.connections);
    let needed = connections.div_ceil(pairs);
    if needed <= ports {
        return;
    }
    short.limits.push(format!(
        "{connections} connections over {pairs} pair(s) of source and address need {needed} local ports each, there are {ports}: enough for at most {} connections",
        ports * pairs
    ));
    let local = candidates.iter().any(|to| matches!(to.ip(), IpAddr::V4(ip) if ip.is_loopback()));
    let sources = remedy::sources(connections, ports);
    match (local, remedy::wider_range(needed)) {
        (true, _) => short.flags.push(("--sources", remedy::loopback_network(sources))),
        (false, Some(command)) => short.first.push(format!("widen the range of ports: {command}")),
        (false, None) => short
            .first
            .push(format!("give this machine {sources} addresses, and name them with --sources")),
    }
}

/// The server as it is once it has closed what a load before this one has left: where only that is in
/// the way it is looked at again, as long as it has fewer descriptors open each time.
fn settled(
    connections: u64,
    mut look: impl FnMut() -> Option<LocalServer>,
    mut wait: impl FnMut(),
) -> Option<LocalServer> {
    let mut server = look()?;
    let mut still = 0;
    while connections + server.used > server.capacity
        && connections + OWN_DESCRIPTORS <= server.capacity
        && still < LOOKS_AT_REST
    {
        wait();
        let next = look()?;
        still = if next.used < server.used { 0 } else { still + 1 };
        server = next;
    }
    Some(server)
}

#[expect(clippy::disallowed_methods, reason = "no poller runs yet, and it is over at once")]
fn pause() {
    std::thread::sleep(BETWEEN_LOOKS);
}

fn check_server(connections: u64, server: &LocalServer, short: &mut Shortage) {
    let needed = connections + server.used;
    if needed <= server.capacity {
        return;
    }
    short.limits.push(format!(
        "the server (process {}) needs {needed} descriptors for {connections} connections, its limit is {}",
        server.pid, server.capacity
    ));
    short.first.push(remedy::restart(connections, needed, server));
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_descriptors() {
        for (connections, threads, limit, expected) in [
            (900, 1, 1024, Some(Tables::Shared)),
            (961, 1, 1024, None),
            (961, 2, 1024, Some(Tables::PerWorker)),
            (1_000_000, 1, 20_000, None),
            (1_000_000, 50, 20_000, None),
            (1_000_000, 51, 20_000, Some(Tables::PerWorker)),
        ] {
            let mut short = Shortage::default();
            let tables = tables(connections, threads, limit, &mut short);
            let found = short.limits.is_empty().then_some(tables);
            assert_eq!(found, expected, "{connections}");
        }
    }

    #[test]
    fn the_remedy_is_a_number_of_threads_that_fits() {
        let of = |limit: u64| {
            let mut short = Shortage::default();
            tables(1_000_000, 2, limit, &mut short);
            short
        };
        let short = of(20_000);
        assert!(short.limits[0].contains("1000068 descriptors, the limit is 20000"), "{short}");
        assert_eq!(short.flags, [("--threads", "51".to_owned())]);
        let hopeless = of(64);
        assert!(hopeless.flags.is_empty());
        assert!(hopeless.to_string().ends_with("ulimit -n 1000068"), "{hopeless}");
    }

    #[test]
    fn all_that_is_short_is_told_at_once() {
        let plan = |url: &str| {
            let json = format!(
                r#"{{"schema": "wiretrial-plan", "version": 1, "target": {{"url": "{url}"}},
                     "load": {{"connections": 50000}}, "stop": {{"requests": 1}}}}"#
            );
            Plan::from_json(&json).expect("a plan")
        };
        let server = LocalServer {
            pid: 7,
            command: ["./serve", "it"].map(str::to_owned).to_vec(),
            limit: 1024,
            used: 10,
            capacity: 1024,
        };
        let mut short = Shortage::default();
        tables(50_000, 1, 20_000, &mut short);
        check_files(50_000, Some(10), &mut short);
        check_ports(&plan("http://h/"), &[([127, 0, 0, 1], 80).into()], 28_232, &mut short);
        check_server(50_000, &server, &mut short);
        assert_eq!(short.limits.len(), 4, "{short}");
        assert_eq!(short.first.len(), 2, "{short}");
        assert!(
            short.to_string().ends_with("\nuse: --threads 3 --sources 127.1.0.0/29"),
            "{short}"
        );

        let far: SocketAddr = ([192, 0, 2, 1], 80).into();
        let mut short = Shortage::default();
        check_ports(&plan("http://h/"), &[far], 28_232, &mut short);
        let wider = "sysctl -w net.ipv4.ip_local_port_range=";
        assert!(short.first[0].contains(wider) && short.flags.is_empty(), "{short}");
        let mut short = Shortage::default();
        check_ports(&plan("http://h/"), &[far], 100, &mut short);
        assert!(short.first[0].contains(wider), "{short}");
    }

    #[test]
    fn the_command_is_the_one_that_was_given_with_other_limits() {
        let words = ["load", "http://h/?a b", "-t", "1", "--sources=127.0.0.1"].map(str::to_owned);
        let flags = vec![("--threads", "3".to_owned()), ("--sources", "127.1.0.0/29".to_owned())];
        let short = Shortage { limits: vec!["too few".to_owned()], flags, ..Shortage::default() };
        assert_eq!(
            short.with_command(&words),
            "too few\nrun: load 'http://h/?a b' --threads 3 --sources 127.1.0.0/29"
        );
        let none = Shortage { flags: Vec::new(), ..short };
        assert_eq!(none.with_command(&words), "too few");
    }

    #[test]
    fn a_server_is_waited_for_while_it_closes_what_was_left() {
        let looks = |connections, used: &[u64]| {
            let mut used = used.iter();
            let mut waits = 0;
            let server = settled(
                connections,
                || {
                    let command = vec!["server".to_owned()];
                    let (used, limit) = (*used.next()?, 20_000);
                    Some(LocalServer { pid: 7, command, limit, used, capacity: limit })
                },
                || waits += 1,
            );
            (server.map(|server| server.used), waits)
        };
        assert_eq!(looks(10_000, &[9]), (Some(9), 0), "it has room");
        assert_eq!(looks(10_000, &[10_009, 10_009, 9_000]), (Some(9_000), 2));
        assert_eq!(looks(10_000, &[10_009, 10_001, 10_000]), (Some(10_000), 2));
        let still = vec![10_009; 1 + LOOKS_AT_REST as usize];
        assert_eq!(looks(10_000, &still), (Some(10_009), LOOKS_AT_REST), "it keeps them");
        assert_eq!(looks(20_000, &[9]), (Some(9), 0), "it is too small, idle too");
        assert_eq!(looks(10_000, &[10_009]), (None, 1), "it is gone");
    }

    #[test]
    fn table_of_pairs_in_use() {
        for (sources, addresses, pairs) in [(1, 1, 1), (1, 3, 3), (4, 6, 12), (5, 5, 5)] {
            assert_eq!(least_common_multiple(sources, addresses), pairs);
        }
    }
}
