//! Counters of TCP: `/proc/PID/net/snmp` and `netstat`.

use std::collections::BTreeMap;

/// The counters of `TcpExt` that tell of queues that were full, losses, resets, memory and delays.
pub const TCP_EXT: [&str; 36] = [
    "DelayedACKs",
    "EmbryonicRsts",
    "ListenDrops",
    "ListenOverflows",
    "PruneCalled",
    "RcvPruned",
    "SyncookiesRecv",
    "SyncookiesSent",
    "TCPAbortOnClose",
    "TCPAbortOnData",
    "TCPAbortOnMemory",
    "TCPAbortOnTimeout",
    "TCPAutoCorking",
    "TCPBacklogCoalesce",
    "TCPBacklogDrop",
    "TCPDelivered",
    "TCPDSACKRecv",
    "TCPFastRetrans",
    "TCPFromZeroWindowAdv",
    "TCPLossProbes",
    "TCPLostRetransmit",
    "TCPMemoryPressures",
    "TCPOFOQueue",
    "TCPOrigDataSent",
    "TCPRcvCoalesce",
    "TCPRcvCollapsed",
    "TCPRcvQDrop",
    "TCPReqQFullDoCookies",
    "TCPReqQFullDrop",
    "TCPRetransFail",
    "TCPSlowStartRetrans",
    "TCPSpuriousRTOs",
    "TCPSynRetrans",
    "TCPTimeouts",
    "TCPTimeWaitOverflow",
    "TCPToZeroWindowAdv",
];

/// The counters of `group` in a file of pairs of lines: the names, then the numbers, each after the
/// group. Other groups may stand around them, and newer kernels have more names.
pub fn counters(text: &str, group: &str) -> Option<BTreeMap<String, i64>> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(':'));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let pairs = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
    Some(pairs.filter_map(|(name, number)| Some((name.to_owned(), number.parse().ok()?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_counters() {
        let text = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn InSegs\nTcp: 200 -1 31\nTcpExt: A B\nTcpExt: 5 x\n";
        let of =
            |group: &str| counters(text, group).map(|found| found.into_iter().collect::<Vec<_>>());
        let named = |pairs: &[(&str, i64)]| {
            Some(
                pairs
                    .iter()
                    .map(|(name, number)| ((*name).to_owned(), *number))
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of("Tcp"), named(&[("InSegs", 31), ("MaxConn", -1), ("RtoMin", 200)]));
        assert_eq!(of("TcpExt"), named(&[("A", 5)]));
        assert_eq!(of("Udp"), None);
        assert_eq!(counters("Tcp: A B C", "Tcp"), None);
        assert_eq!(counters("Tcp: A B C\nTcp: 1", "Tcp").map(|found| found.len()), Some(1));
    }

    #[test]
    fn the_names_are_in_order_and_each_stands_once() {
        assert!(TCP_EXT.windows(2).all(|pair| pair[0].to_lowercase() < pair[1].to_lowercase()));
    }
}
