//! `--deflate`: parameters of permessage-deflate (RFC 7692) as people write them.
//!
//! Knows the words; must not know who compresses what.

use wiretrial_respond::DeflateConfig;

/// What is meant by `server_no_context_takeover,client_max_window_bits=10,level=1` and the like;
/// nothing is what a browser does.
pub(crate) fn deflate(text: &str) -> Result<DeflateConfig, String> {
    let mut config = DeflateConfig::default();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
        match (name, value) {
            ("server_no_context_takeover", None) => config.server_no_context_takeover = true,
            ("client_no_context_takeover", None) => config.client_no_context_takeover = true,
            ("server_max_window_bits", Some(bits)) => {
                config.server_max_window_bits = number(name, bits)?;
            }
            ("client_max_window_bits", Some(bits)) => {
                config.client_max_window_bits = number(name, bits)?;
            }
            ("level", Some(level)) => config.level = number(name, level)?,
            _ => {
                return Err(format!(
                    "'{word}' is none of server_no_context_takeover, client_no_context_takeover, \
                     server_max_window_bits=8..15, client_max_window_bits=8..15, level=1..9"
                ));
            }
        }
    }
    config.validate().map_err(|error| error.to_string())?;
    Ok(config)
}

fn number(name: &str, text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| format!("{name}={text} is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_words() {
        let usual = DeflateConfig::default();
        let all = "server_no_context_takeover, client_no_context_takeover,\
                   server_max_window_bits=9,client_max_window_bits=8,level=1";
        let each = DeflateConfig {
            server_no_context_takeover: true,
            client_no_context_takeover: true,
            server_max_window_bits: 9,
            client_max_window_bits: 8,
            level: 1,
        };
        for (text, config) in [("", usual), ("level=6", usual), (all, each)] {
            assert_eq!(deflate(text), Ok(config), "{text}");
        }
    }

    #[test]
    fn table_of_wrong_words() {
        let rows = [
            ("fast", "'fast' is none of"),
            ("level", "'level' is none of"),
            ("level=0", "level=0 is not 1"),
            ("level=high", "level=high is not a number"),
            ("client_max_window_bits=16", "client_max_window_bits=16 is not 8 to 15"),
            ("server_no_context_takeover=1", "is none of"),
        ];
        for (text, expected) in rows {
            let error = deflate(text).unwrap_err();
            assert!(error.contains(expected) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
