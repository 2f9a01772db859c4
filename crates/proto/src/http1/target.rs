//! What a request target and a host may look like.
//!
//! Knows the four forms of RFC 9112 section 3.2 and the authority of RFC 3986; must not know
//! what a target leads to. Both sides ask here, so what the client sends the server takes.

use core::net::Ipv6Addr;

/// Has the target the form that its method demands, of characters that may stand there?
pub(super) fn is_target(method: &str, target: &str) -> bool {
    if target.is_empty() || !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return false;
    }
    if method == "CONNECT" {
        return is_authority_with_port(target);
    }
    target.starts_with('/') || (method, target) == ("OPTIONS", "*") || is_absolute(target)
}

/// Is it a URI's, too? A server may take more than a client may send (RFC 9110 section 2.2).
pub(super) fn may_be_sent(method: &str, target: &str) -> bool {
    if !is_target(method, target) {
        return false;
    }
    // Brackets stand around addresses only, and those were checked.
    let path = match target.split_once("://") {
        Some((_, rest)) if !target.starts_with('/') => {
            rest.find(['/', '?']).map_or("", |offset| &rest[offset..])
        }
        _ if method == "CONNECT" => "",
        _ => target,
    };
    is_encoded(path, |byte| is_plain(byte) || b":@/?".contains(&byte))
}

/// Is this the value of a Host field (RFC 9110 section 7.2): nothing, or a host and maybe a port?
pub(super) fn is_host(value: &[u8]) -> bool {
    // Nearly every host is a name or an IPv4 address, with or without a port.
    let name = value.iter().take_while(|byte| is_plain(**byte)).count();
    match value.get(name) {
        None => true,
        Some(b':') => value[name + 1..].iter().all(u8::is_ascii_digit),
        Some(_) => str::from_utf8(value).is_ok_and(|text| split_authority(text).is_some()),
    }
}

/// An absolute URI with an authority. Who sends it names no user (RFC 9110 section 4.2.4), and
/// an empty host is invalid (section 4.2.1).
fn is_absolute(target: &str) -> bool {
    let Some((scheme, rest)) = target.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    is_scheme(scheme) && split_authority(authority).is_some_and(|(host, _)| !host.is_empty())
}

/// Authority form: the port must be there, and be one (RFC 9110 section 9.3.6).
fn is_authority_with_port(target: &str) -> bool {
    let Some((host, Some(port))) = split_authority(target) else {
        return false;
    };
    !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Host and port; none where it is no authority without a user.
fn split_authority(text: &str) -> Option<(&str, Option<&str>)> {
    let (host, behind) = if let Some(literal) = text.strip_prefix('[') {
        let (address, behind) = literal.split_once(']')?;
        if !is_literal(address) {
            return None;
        }
        (&text[..address.len() + 2], behind)
    } else {
        let (name, behind) = text.split_at(text.find(':').unwrap_or(text.len()));
        if !is_registered_name(name) {
            return None;
        }
        (name, behind)
    };
    if behind.is_empty() {
        return Some((host, None));
    }
    let port = behind.strip_prefix(':')?;
    port.bytes().all(|byte| byte.is_ascii_digit()).then_some((host, Some(port)))
}

/// What stands in brackets: an IPv6 address, or one of a version to come.
fn is_literal(address: &str) -> bool {
    if address.parse::<Ipv6Addr>().is_ok() {
        return true;
    }
    let Some((version, rest)) = address.strip_prefix(['v', 'V']).and_then(|it| it.split_once('.'))
    else {
        return false;
    };
    let hexadecimal = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    hexadecimal && !rest.is_empty() && rest.bytes().all(|byte| is_plain(byte) || byte == b':')
}

/// A name, or an IPv4 address, which looks like one.
fn is_registered_name(name: &str) -> bool {
    is_encoded(name, is_plain)
}

/// Are these characters that may stand there, or octets encoded by percent?
fn is_encoded(text: &str, may_stand: fn(u8) -> bool) -> bool {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default();
    first.bytes().all(may_stand)
        && parts.all(|part| {
            let (code, rest) = part.as_bytes().split_at(part.len().min(2));
            code.len() == 2
                && code.iter().all(u8::is_ascii_hexdigit)
                && rest.iter().all(|byte| may_stand(*byte))
        })
}

/// Unreserved, or a delimiter inside a name (RFC 3986 sections 2.2 and 2.3).
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b'!'
                | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
        )
}

#[cfg(test)]
mod tests {
    use super::{is_host, is_target, may_be_sent};

    #[test]
    fn hosts() {
        for host in [
            "",
            "h",
            "h:",
            "h:80",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:80",
            "[2001:db8::7]",
            "a%20b",
            "a_b",
            "[v7.x:y]",
            ":80",
        ] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "a b", "a/b", "u@h", "h:80x", "h:80:90", "::1", "[::1", "[::1]80", "[]", "[g]", "a%2",
            "a%zz", "h?", "[v.x]", "[v7.]", "h\u{e9}", "a\"b",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn targets() {
        let good = [
            ("GET", "/"),
            ("GET", "/a?b=c/../%20"),
            ("GET", "http://h"),
            ("GET", "HTTPS://[::1]:443/a?b"),
            ("GET", "urn+x.y-z://h?q"),
            ("OPTIONS", "*"),
            ("OPTIONS", "/"),
            ("CONNECT", "h:443"),
            ("CONNECT", "[::1]:1"),
        ];
        for (method, target) in good {
            assert!(is_target(method, target), "{method} {target}");
        }
        for (method, target) in good {
            assert!(may_be_sent(method, target), "{method} {target}");
        }
        for target in
            ["/\"", "/a|b", "/{}", "/a[]", "/a^", "/%", "/%4", "/%zz", "http://h/[", "/\\"]
        {
            assert!(is_target("GET", target) && !may_be_sent("GET", target), "{target}");
        }
        let bad = [
            ("GET", ""),
            ("GET", "a"),
            ("GET", "*"),
            ("GET", "/a b"),
            ("GET", "/a#b"),
            ("GET", "/\u{e9}"),
            ("GET", "/\x7f"),
            ("GET", "http://"),
            ("GET", "http:///a"),
            ("GET", "http://?a"),
            ("GET", "http://:80/"),
            ("GET", "http://u@h/"),
            ("GET", "://h"),
            ("GET", "1a://h"),
            ("GET", "h:80"),
            ("OPTIONS", "**"),
            ("CONNECT", "h"),
            ("CONNECT", "h:"),
            ("CONNECT", "h:0"),
            ("CONNECT", "h:65536"),
            ("CONNECT", ":443"),
            ("CONNECT", "/"),
            ("CONNECT", "http://h:80"),
        ];
        for (method, target) in bad {
            assert!(!is_target(method, target), "{method} {target}");
        }
    }
}
