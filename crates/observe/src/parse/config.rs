//! A kernel's configuration, as its build wrote it.

/// The value of `CONFIG_name`: `y`, `m`, a number, a text in quotes. None where it is not set.
pub fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix("CONFIG_")?.strip_prefix(name)?.strip_prefix('='))
}

/// Whether `CONFIG_name` is built in. What does not stand there is not: its conditions were not met.
pub fn is_set(text: &str, name: &str) -> bool {
    value(text, name) == Some("y")
}

/// Whether a text is a configuration at all.
pub fn is_one(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("CONFIG_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_settings() {
        let text = "# Automatically generated\nCONFIG_TICK_CPU_ACCOUNTING=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\nCONFIG_A=m\n";
        assert!(is_one(text) && !is_one("# nothing\n"));
        assert!(is_set(text, "TICK_CPU_ACCOUNTING"));
        for unset in ["IRQ_TIME_ACCOUNTING", "VIRT_CPU_ACCOUNTING_GEN", "A", "TICK", ""] {
            assert!(!is_set(text, unset), "{unset}");
        }
        assert_eq!(
            (value(text, "HZ"), value(text, "A"), value(text, "B")),
            (Some("250"), Some("m"), None)
        );
    }
}
