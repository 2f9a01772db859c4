//! What the kernel's files say: pure functions over their text.
//!
//! Knows the forms of the files, as proc(5), cgroups(7) and the kernel's Documentation/admin-guide
//! describe them; must not know where a file lies. Any text is read: what is not understood is left
//! out, and nothing panics.

pub mod config;
pub mod groups;
pub mod machine;
pub mod net;
pub mod process;

/// A decimal number; none where it is anything else.
fn number<T: std::str::FromStr>(text: Option<&str>) -> Option<T> {
    text?.trim().parse().ok()
}

/// The number after `key`, in a file of lines `key number`.
fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        if words.next() == Some(key) { number(words.next()) } else { None }
    })
}
