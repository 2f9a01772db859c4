//! Files of one process or thread.

/// What `/proc/PID/stat` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// The letter of its state.
    pub state: char,
    /// Its parent.
    pub parent: u32,
    /// Ticks in programs.
    pub user: u64,
    /// Ticks in the kernel.
    pub system: u64,
    /// Ticks in programs of children that were waited for.
    pub children_user: u64,
    /// Ticks in the kernel of those.
    pub children_system: u64,
    /// Its threads.
    pub threads: u64,
    /// Ticks since the machine's start.
    pub start: u64,
    /// Resident pages; none where the line ends before.
    pub rss_pages: Option<u64>,
}

impl Stat {
    /// It ended, and its parent has not waited for it yet.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// Reads `/proc/PID/stat`; none where a field is missing. The name may hold anything, blanks and
/// parentheses and line ends included: it ends at the last `)`.
pub fn stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let field = |index: usize| fields.get(index).and_then(|word| word.parse::<u64>().ok());
    // The kernel writes the times of children as signed numbers.
    let signed = |index: usize| {
        let number: i64 = fields.get(index)?.parse().ok()?;
        Some(u64::try_from(number).unwrap_or_default())
    };
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        user: field(11)?,
        system: field(12)?,
        children_user: signed(13)?,
        children_system: signed(14)?,
        threads: signed(17)?,
        start: field(19)?,
        rss_pages: signed(21),
    })
}

/// What the scheduler knows of a thread, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scheduled {
    /// It ran.
    pub on_cpu_ns: u64,
    /// It could run, and waited for a CPU.
    pub run_queue_ns: u64,
}

/// Reads `schedstat` of a thread.
pub fn schedstat(text: &str) -> Option<Scheduled> {
    let mut words = text.split_ascii_whitespace();
    Some(Scheduled {
        on_cpu_ns: super::number(words.next())?,
        run_queue_ns: super::number(words.next())?,
    })
}

/// The bytes that a process, and children that it waited for, had written to disks, in `io`.
pub fn written(text: &str) -> Option<u64> {
    super::keyed(text, "write_bytes:")
}

/// How many descriptors a process may have open, in `limits`; none where nothing limits it.
pub fn descriptor_limit(text: &str) -> Option<u64> {
    let limits = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    super::number(limits.split_ascii_whitespace().next())
}

/// The bytes of `Pss` in `smaps_rollup`.
pub fn pss(text: &str) -> Option<u64> {
    super::keyed(text, "Pss:")?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str =
        "S 7 12 12 0 -1 4194560 100 200 0 0 31 32 33 34 20 0 5 0 4711 9000000 250 184467";

    #[test]
    fn table_of_names() {
        for name in [
            "nginx",
            "a b",
            "(sd-pam)",
            ") S 1 1 (",
            "a) R 0",
            "",
            "\n",
            "tmux: server",
            "\u{fffd}",
        ] {
            let found = stat(&format!("12 ({name}) {REST}\n")).expect(name);
            assert_eq!((found.state, found.parent, found.start), ('S', 7, 4711), "{name}");
            assert_eq!((found.user, found.system), (31, 32), "{name}");
            assert_eq!((found.children_user, found.children_system), (33, 34), "{name}");
            assert_eq!((found.threads, found.rss_pages), (5, Some(250)), "{name}");
        }
    }

    #[test]
    fn table_of_odd_lines() {
        let cut = REST.rsplit_once(" 250").expect("a part").0;
        let short = stat(&format!("1 (x) {cut}")).expect("all but memory");
        assert_eq!(short.rss_pages, None);
        let of_children =
            stat(&format!("1 (x) {}", REST.replace(" 33 34 ", " -1 -2 "))).expect("read");
        assert_eq!((of_children.children_user, of_children.children_system), (0, 0));
        assert!(stat(&format!("1 (x) {}", REST.replace('S', "Z"))).expect("read").has_ended());
        for wrong in ["", "1", "1 (x", "1 (x)", "1 (x) S", "1 (x) S 7 12", "1 x S 7 12 12 0"] {
            assert_eq!(stat(wrong), None, "{wrong}");
        }
        assert_eq!(stat(&format!("1 (x) {}", REST.replace(" 31 ", " x "))), None);
        assert_eq!(
            stat(&format!("1 (x) {}", REST.replace(" 31 ", " 99999999999999999999 "))),
            None
        );
    }

    #[test]
    fn table_of_schedstat_and_pss() {
        let scheduled = Scheduled { on_cpu_ns: 5, run_queue_ns: 7 };
        assert_eq!(schedstat("5 7 9\n"), Some(scheduled));
        for wrong in ["", "5", "x 7", "5 -7 9"] {
            assert_eq!(schedstat(wrong), None, "{wrong}");
        }
        let rollup = "55818eade000-7ffd4de9f000 ---p 00000000 00:00 0   [rollup]\nRss: 1780 kB\nPss:   293 kB\nPss_Dirty: 112 kB\n";
        assert_eq!(pss(rollup), Some(293 * 1024));
        for wrong in ["", "Pss_Anon: 5 kB", "Pss:", "Pss: x kB", "Pss: 18446744073709551615 kB"] {
            assert_eq!(pss(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn table_of_io_and_limits() {
        let io = "rchar: 9\nwchar: 8\nread_bytes: 0\nwrite_bytes: 4096\ncancelled_write_bytes: 1\n";
        assert_eq!(written(io), Some(4096));
        for wrong in ["", "write_bytes:", "write_bytes: -1", "cancelled_write_bytes: 5"] {
            assert_eq!(written(wrong), None, "{wrong}");
        }
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max processes             95                   95                   processes \n\
                      Max open files            1024                 524288               files     \n";
        assert_eq!(descriptor_limit(limits), Some(1024));
        for none in ["", "Max open files", "Max open files   unlimited   unlimited   files"] {
            assert_eq!(descriptor_limit(none), None, "{none}");
        }
    }
}
