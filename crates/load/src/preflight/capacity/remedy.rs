//! What to do about limits that are too low: the words and numbers of each remedy.
//!
//! Knows arithmetic and command lines; must not know how a limit is read.

use std::path::Path;

use wiretrial_net::LocalServer;

/// The widest range of ports that leaves out those that need a privilege.
const WIDEST: (u64, u64) = (1024, 65_535);
/// Descriptors of the reference server's thread beside its connections, and those that each further
/// thread adds to its copy of the table.
const SERVER_OWN: u64 = 60;
const SERVER_PER_THREAD: u64 = 8;
const MOST_THREADS: u64 = 1024;
/// The kernel deals connections out by a hash: a thread may have a twentieth more than its part.
const UNEVEN: u64 = 20;

/// How many source addresses are enough. The kernel gives out every other port first, and looks
/// through all of those for each connection beyond.
pub(super) fn sources(connections: u64, ports: u64) -> u64 {
    connections.div_ceil((ports / 2).max(1))
}

/// A network of the loopback interface with at least so many hosts.
pub(super) fn loopback_network(hosts: u64) -> String {
    let bits = (hosts + 2).next_power_of_two().trailing_zeros();
    format!("127.1.0.0/{}", 32 - bits.min(16))
}

/// The command that makes so many ports of one address free to choose from, if any does.
pub(super) fn wider_range(needed: u64) -> Option<String> {
    let (first, last) = WIDEST;
    (needed <= last - first + 1)
        .then(|| format!("sysctl -w net.ipv4.ip_local_port_range=\"{first} {last}\""))
}

/// How the server comes to have so many descriptors.
pub(super) fn restart(connections: u64, needed: u64, server: &LocalServer) -> String {
    let limit = server.limit;
    let fits = |threads: &u64| {
        let part = connections.div_ceil(*threads);
        part + part / UNEVEN + SERVER_OWN + SERVER_PER_THREAD * threads <= limit
    };
    let is_ours = is_reference_server(&server.command);
    let threads = (2..=MOST_THREADS).find(fits).filter(|_| is_ours);
    let Some(threads) = threads else {
        return format!(
            "raise the server's limit: start it after ulimit -n {needed}, or as root: prlimit --pid {} --nofile={needed}",
            server.pid
        );
    };
    let mut words = without(&server.command, &["--threads", "-t"]);
    words.retain(|word| word != "--own-descriptors");
    words.extend(["--threads".to_owned(), threads.to_string(), "--own-descriptors".to_owned()]);
    format!("start the server again as: {}", line(&words))
}

fn is_reference_server(command: &[String]) -> bool {
    let program = command.first().and_then(|program| Path::new(program).file_stem());
    let is_engine =
        program.and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("wiretrial"));
    is_engine && command.get(1).is_some_and(|word| word == "respond")
}

/// A command line without these flags and their values.
pub(super) fn without(words: &[String], flags: &[&str]) -> Vec<String> {
    let mut left = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if flags.contains(&word.as_str()) {
            words.next();
        } else if !flags.iter().any(|flag| carries(word, flag)) {
            left.push(word.clone());
        }
    }
    left
}

/// `--flag=value`, or `-fvalue`.
fn carries(word: &str, flag: &str) -> bool {
    word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=') || !flag.starts_with("--"))
}

/// Words as a shell reads them.
pub(super) fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn table_of_networks() {
        for (hosts, network) in
            [(1, "127.1.0.0/30"), (2, "127.1.0.0/30"), (3, "127.1.0.0/29"), (62, "127.1.0.0/26")]
        {
            assert_eq!(loopback_network(hosts), network);
        }
        assert_eq!(sources(1_000_000, 28_232), 71);
        assert_eq!(wider_range(64_512).is_some(), wider_range(64_513).is_none());
    }

    #[test]
    fn the_reference_server_is_started_again_with_tables_per_thread() {
        let server = |command: &str, limit| LocalServer {
            pid: 7,
            command: words(command),
            limit,
            used: 9,
            capacity: limit,
        };
        let ours =
            "/bin/wiretrial-engine respond --threads=1 --http 127.0.0.1:80 --own-descriptors";
        assert_eq!(
            restart(50_000, 50_009, &server(ours, 20_000)),
            "start the server again as: /bin/wiretrial-engine respond --http 127.0.0.1:80 --threads 3 --own-descriptors"
        );
        for (command, limit) in [(ours, 60), ("node respond", 20_000), ("", 20_000)] {
            let told = restart(50_000, 50_009, &server(command, limit));
            assert!(told.ends_with("prlimit --pid 7 --nofile=50009"), "{told}");
        }
    }

    #[test]
    fn table_of_command_lines() {
        for (before, after) in [
            ("load u -c 5 --threads 2 -d 1s", "load u -c 5 -d 1s"),
            ("load u --threads=2", "load u"),
            ("load -t 2 u -t3", "load u"),
            ("load u --threads", "load u"),
            ("load u --threadsafe", "load u --threadsafe"),
        ] {
            assert_eq!(without(&words(before), &["--threads", "-t"]), words(after), "{before}");
        }
        let odd = ["a b", "it's", "", "x"].map(str::to_owned);
        assert_eq!(line(&odd), r"'a b' 'it'\''s' '' x");
    }
}
