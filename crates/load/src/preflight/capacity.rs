//! What this machine must have for the plan: each refusal with its arithmetic and the remedy.
//!
//! Knows limits of the process and the kernel; must not know the target.

use wiretrial_net::machine::{local_ports, raise_descriptor_limit};

use super::Refusal;
use crate::plan::Plan;

/// Descriptors that the engine needs beside its connections, per worker and in all.
const OWN_DESCRIPTORS: u64 = 60;

pub(super) fn check_descriptors(plan: &Plan) -> Result<(), Refusal> {
    let limit = raise_descriptor_limit().soft;
    let needed = u64::from(plan.load.connections) + OWN_DESCRIPTORS;
    if needed <= limit {
        return Ok(());
    }
    Err(Refusal::Machine(format!(
        "{} connections need {needed} descriptors, the limit is {limit}: use at most {} connections, or raise it (ulimit -n {needed})",
        plan.load.connections,
        limit.saturating_sub(OWN_DESCRIPTORS)
    )))
}

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
    use super::least_common_multiple;

    #[test]
    fn table_of_pairs_in_use() {
        for (sources, addresses, pairs) in [(1, 1, 1), (1, 3, 3), (4, 6, 12), (5, 5, 5)] {
            assert_eq!(least_common_multiple(sources, addresses), pairs);
        }
    }
}
