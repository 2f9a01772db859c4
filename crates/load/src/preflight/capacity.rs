//! What this machine must have for the plan: each refusal with its arithmetic and the remedy.
//!
//! Knows limits of the process and the kernel; must not know the target.

use wiretrial_net::machine::{file_headroom, local_ports, raise_descriptor_limit};

use super::Refusal;
use crate::plan::Plan;

/// Descriptors that the engine needs beside its connections.
const OWN_DESCRIPTORS: u64 = 60;
/// Descriptors of each worker's poller. A table of a worker's own begins as a copy of the process's,
/// and may hold those of all others.
const POLLER_DESCRIPTORS: u64 = 4;

/// Where the descriptors of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    /// All in the table of the process.
    Shared,
    /// Each worker's in one of its own, as one is too small for all.
    PerWorker,
}

pub(super) fn check_descriptors(plan: &Plan) -> Result<Tables, Refusal> {
    let connections = u64::from(plan.load.connections);
    let limit = raise_descriptor_limit().soft;
    let tables = tables(connections, plan.generator.threads.into(), limit)?;
    if let Some(headroom) = file_headroom().filter(|headroom| *headroom < connections) {
        return Err(Refusal::Machine(format!(
            "{connections} connections need as many open files, and this machine has room for {headroom} more: raise it (sysctl fs.file-max), and count the server's too where it runs here"
        )));
    }
    Ok(tables)
}

fn tables(connections: u64, threads: u64, limit: u64) -> Result<Tables, Refusal> {
    let needed = connections + OWN_DESCRIPTORS + POLLER_DESCRIPTORS * threads;
    if needed <= limit {
        return Ok(Tables::Shared);
    }
    let own = |threads: u64| OWN_DESCRIPTORS + POLLER_DESCRIPTORS * threads;
    let fits = |threads: u64| connections.div_ceil(threads) + own(threads) <= limit;
    if threads > 1 && fits(threads) {
        return Ok(Tables::PerWorker);
    }
    let remedy = match (2..=MOST_THREADS).find(|&threads| fits(threads)) {
        Some(threads) => format!(
            "use --threads {threads}, each of which has a table of its own, or raise it (ulimit -n {needed})"
        ),
        None => format!("raise it (ulimit -n {needed})"),
    };
    Err(Refusal::Machine(format!(
        "{connections} connections need {needed} descriptors, the limit is {limit}: {remedy}"
    )))
}

/// As many as are worth proposing.
const MOST_THREADS: u64 = 1024;

/// A local port serves one connection per peer and source. Connections take their addresses and
/// sources in turn, so that as many pairs are in use as both have in common multiples.
pub(super) fn check_ports(plan: &Plan) -> Result<(), Refusal> {
    let Some(ports) = local_ports() else { return Ok(()) };
    let sources = plan.target.sources.len().max(1) as u64;
    let addresses = plan.target.addresses.len().max(1) as u64;
    let pairs = least_common_multiple(sources, addresses);
    let connections = u64::from(plan.load.connections);
    let needed = connections.div_ceil(pairs);
    if needed <= ports {
        return Ok(());
    }
    Err(Refusal::Machine(format!(
        "{connections} connections over {pairs} pair(s) of source and address need {needed} local ports each, there are {ports}: use at most {} connections, more --sources, or widen net.ipv4.ip_local_port_range",
        ports * pairs
    )))
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
    use super::{Tables, least_common_multiple, tables};

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
            assert_eq!(tables(connections, threads, limit).ok(), expected, "{connections}");
        }
    }

    #[test]
    fn the_remedy_is_a_number_of_threads_that_fits() {
        let refusal = tables(1_000_000, 2, 20_000).expect_err("too few").to_string();
        assert!(refusal.contains("1000068 descriptors, the limit is 20000"), "{refusal}");
        assert!(refusal.contains("use --threads 51,"), "{refusal}");
        let hopeless = tables(1_000_000, 2, 64).expect_err("hopeless").to_string();
        assert!(hopeless.ends_with("raise it (ulimit -n 1000068)"), "{hopeless}");
    }

    #[test]
    fn table_of_pairs_in_use() {
        for (sources, addresses, pairs) in [(1, 1, 1), (1, 3, 3), (4, 6, 12), (5, 5, 5)] {
            assert_eq!(least_common_multiple(sources, addresses), pairs);
        }
    }
}
