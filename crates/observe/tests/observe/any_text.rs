//! Whatever the files say: an answer, never a panic. The fuzz target `observe_files` asks the same.

use proptest::prelude::*;

use crate::parsers::read_all;

/// Words of the files, so that a text comes further than its first line.
const WORDS: [&str; 30] = [
    "cpu0",
    "cpu",
    "ctxt",
    "(a) b)",
    "S",
    "Tcp:",
    "TcpExt:",
    "some",
    "full",
    "total=",
    "total=9",
    "Pss:",
    "kB",
    "CONFIG_HZ=",
    "0::/",
    "1:cpu,cpuacct:/a",
    " - ",
    "cgroup2",
    "cgroup",
    "usage_usec",
    "nr_throttled",
    "max",
    "-1",
    "0",
    "18446744073709551615",
    "99999999999999999999",
    "\\040",
    "\\",
    "/",
    "..",
];

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        read_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words_are_read(words in proptest::collection::vec((0..WORDS.len(), "[ \n:]"), 0..64)) {
        let text: String = words.iter().flat_map(|(word, end)| [WORDS[*word], end]).collect();
        read_all(&text);
    }
}
