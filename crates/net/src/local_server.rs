//! Who serves on an address of this machine, and how many descriptors it may have.
//!
//! Knows /proc. Must not know what is served.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;

/// A program of this machine that listens on an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Its process; of several, the first.
    pub pid: u32,
    /// Its program and arguments.
    pub command: Vec<String>,
    /// Descriptors that one table of this process may hold.
    pub limit: u64,
    /// Descriptors that it holds, in one table.
    pub used: u64,
    /// Descriptors of all tables that its connections can be in: those of each process that listens
    /// or was started by one that does, and of threads that have tables of their own.
    pub capacity: u64,
}

/// The program that listens on this address. None where it is another machine's, and where this
/// user may not know.
pub fn local_server(address: SocketAddr) -> Option<LocalServer> {
    // Only a local address can be bound to; a datagram socket is in no server's way.
    UdpSocket::bind((address.ip(), 0)).ok()?;
    let sockets = listening(address);
    let processes = if sockets.is_empty() { Vec::new() } else { processes() };
    let in_main: Vec<_> =
        processes.iter().filter(|process| holds(&process.folder(), &sockets)).collect();
    let holders: Vec<(&Process, u64)> = if in_main.is_empty() {
        let own = processes.iter().map(|process| (process, process.threads_that_hold(&sockets)));
        own.filter(|(_, tables)| *tables > 0).collect()
    } else {
        in_main.into_iter().map(|process| (process, 1)).collect()
    };
    let (first, _) = holders.first()?;
    let mut capacity = 0_u64;
    for process in &processes {
        let own = holders.iter().find(|(holder, _)| holder.pid == process.pid);
        let tables = own.map_or(1, |(_, tables)| *tables);
        if own.is_some() || process.descends_from(&holders, &processes) {
            let limit = process.descriptor_limit().unwrap_or(u64::MAX);
            capacity = capacity.saturating_add(limit.saturating_mul(tables));
        }
    }
    Some(LocalServer {
        pid: first.pid,
        command: first.command(),
        limit: first.descriptor_limit()?,
        used: fs::read_dir(first.folder()).ok()?.count() as u64,
        capacity,
    })
}

/// Numbers of the sockets that accept connections to this address.
fn listening(address: SocketAddr) -> BTreeSet<u64> {
    const LISTEN: &str = "0A";
    let mut found = BTreeSet::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let Ok(file) = File::open(table) else { continue };
        // Those that listen come first: of a million others none is read.
        for line in BufReader::new(file).lines().skip(1).map_while(Result::ok) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let [_, local, _, state, _, _, _, _, _, inode, ..] = fields[..] else { break };
            if state != LISTEN {
                break;
            }
            let serves = endpoint(local).is_some_and(|(ip, port)| {
                port == address.port() && (ip.is_unspecified() || ip == address.ip())
            });
            found.extend(inode.parse::<u64>().ok().filter(|_| serves));
        }
    }
    found
}

/// As the kernel writes it: words of the address in the machine's byte order, and the port.
fn endpoint(text: &str) -> Option<(IpAddr, u16)> {
    let (words, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::new();
    for offset in (0..words.len()).step_by(8) {
        let word = u32::from_str_radix(words.get(offset..offset + 8)?, 16).ok()?;
        bytes.extend_from_slice(&word.to_ne_bytes());
    }
    let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => IpAddr::from(four),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
    };
    Some((ip.to_canonical(), port))
}

#[derive(Debug)]
struct Process {
    pid: u32,
    parent: u32,
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut found: Vec<Process> = pids
        .filter_map(|pid: u32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name, in parentheses, may hold anything.
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
            let parent = fields.nth(1)?.parse().ok()?;
            Some(Process { pid, parent })
        })
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// Does the table of descriptors in this folder hold one of these sockets?
fn holds(folder: &str, sockets: &BTreeSet<u64>) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| socket(&entry.path())).any(|inode| sockets.contains(&inode))
}

fn socket(link: &Path) -> Option<u64> {
    let target = fs::read_link(link).ok()?;
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

impl Process {
    fn folder(&self) -> String {
        format!("/proc/{}/fd", self.pid)
    }

    /// Where the process itself holds none of them, each such thread has a table of its own.
    fn threads_that_hold(&self, sockets: &BTreeSet<u64>) -> u64 {
        let entries = fs::read_dir(format!("/proc/{}/task", self.pid)).into_iter().flatten();
        let threads = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let folders = threads.map(|thread| format!("/proc/{}/task/{thread}/fd", self.pid));
        folders.filter(|folder| holds(folder, sockets)).count() as u64
    }

    fn descends_from(&self, holders: &[(&Self, u64)], all: &[Self]) -> bool {
        let mut pid = self.parent;
        // Pids may be used again while this is read: no more steps than there are processes.
        for _ in 0..all.len() {
            if holders.iter().any(|(holder, _)| holder.pid == pid) {
                return true;
            }
            match all.binary_search_by_key(&pid, |process| process.pid) {
                Ok(found) => pid = all[found].parent,
                Err(_) => return false,
            }
        }
        false
    }

    /// None: not to be known, or without limit.
    fn descriptor_limit(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/limits", self.pid)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    }

    fn command(&self) -> Vec<String> {
        let bytes = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn table_of_endpoints() {
        for (text, expected) in [
            ("0100007F:1F90", Some(("127.0.0.1", 8080))),
            ("00000000:0050", Some(("0.0.0.0", 80))),
            ("00000000000000000000000001000000:0050", Some(("::1", 80))),
            ("0000000000000000FFFF00000100007F:0050", Some(("127.0.0.1", 80))),
            ("0100007F", None),
            ("010000:0050", None),
        ] {
            let found = endpoint(text).map(|(ip, port)| (ip.to_string(), port));
            assert_eq!(found, expected.map(|(ip, port)| (ip.to_owned(), port)), "{text}");
        }
    }

    #[test]
    fn the_server_of_a_local_address_is_found_with_its_limit() {
        for address in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
            let listener = TcpListener::bind(address).expect("a free port");
            let port = listener.local_addr().expect("its address").port();
            let found = local_server(([127, 0, 0, 1], port).into()).expect("this process");
            assert_eq!(found.pid, std::process::id());
            assert_eq!(found.limit, crate::descriptor_limit().soft);
            assert!(found.capacity >= found.limit && found.used > 0, "{found:?}");
            assert!(!found.command.is_empty());
        }
    }

    #[test]
    fn nobody_is_found_where_nobody_listens_or_another_machine_does() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        assert_eq!(local_server(([127, 0, 0, 2], port).into()), None);
        // Of a network for documentation.
        assert_eq!(local_server(([192, 0, 2, 1], port).into()), None);
        drop(listener);
        assert_eq!(local_server(([127, 0, 0, 1], port).into()), None);
    }
}
