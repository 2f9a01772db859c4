//! Where a redirect leads: the next target at the same origin.
//!
//! Knows `Location` and URLs (RFC 3986). Must not know requests, nor how often a redirect is followed.

use std::borrow::Cow;

use crate::source::excerpt;

/// Is a reply with this status one that leads elsewhere?
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Is such a reply followed with a GET, without a body? As curl and Hurl do it: what was sent is sent again only
/// where the status says so (307, 308).
pub fn only_gets(status: u16) -> bool {
    matches!(status, 301..=303)
}

/// The target that a `Location` means in the reply to a request for `base`.
///
/// # Errors
/// It is of another origin; in words.
pub fn resolve(location: &[u8], origin: &str, base: &[u8]) -> Result<Vec<u8>, String> {
    let location = location.trim_ascii();
    let end = location.iter().position(|byte| *byte == b'#').unwrap_or(location.len());
    let location = &location[..end];
    let scheme = origin.split_once("://").map_or("", |(scheme, _)| scheme);
    let absolute = match location {
        [b'/', b'/', ..] => Some(Cow::Owned([scheme.as_bytes(), b":", location].concat())),
        _ if has_scheme(location) => Some(Cow::Borrowed(location)),
        _ => None,
    };
    let Some(absolute) = absolute else { return Ok(encoded(&merged(location, base))) };
    let path = behind(&absolute, origin)
        .ok_or_else(|| format!("to {}, another origin", excerpt(location)))?;
    let path = if path.starts_with(b"/") { path } else { [b"/", &path[..]].concat() };
    Ok(encoded(&without_dots(&path)))
}

/// `http:` and the like; a colon behind a slash is of a path.
fn has_scheme(location: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let colon = location.iter().position(|byte| !is_word(byte));
    location.first().is_some_and(u8::is_ascii_alphabetic)
        && colon.is_some_and(|place| location[place] == b':')
}

/// What stands behind the origin in an absolute URL; none: it is of another one.
fn behind(url: &[u8], origin: &str) -> Option<Vec<u8>> {
    let place = url.windows(3).position(|part| part == b"://")?;
    let authority = &url[place + 3..];
    let end = authority.iter().position(|byte| b"/?".contains(byte)).unwrap_or(authority.len());
    let found = &url[..place + 3 + end];
    same_origin(found, origin.as_bytes()).then(|| url[place + 3 + end..].to_vec())
}

fn same_origin(found: &[u8], own: &[u8]) -> bool {
    fn bare(origin: &[u8]) -> Vec<u8> {
        let origin = origin.to_ascii_lowercase();
        let usual: &[u8] = if origin.starts_with(b"https://") { b":443" } else { b":80" };
        origin.strip_suffix(usual).map_or(origin.clone(), <[u8]>::to_vec)
    }
    bare(found) == bare(own)
}

/// A reference without an authority, in the place of what it is relative to.
fn merged(location: &[u8], base: &[u8]) -> Vec<u8> {
    let path = base.split(|byte| *byte == b'?').next().unwrap_or_default();
    match location.first() {
        None => base.to_vec(),
        Some(b'/') => without_dots(location),
        Some(b'?') => [path, location].concat(),
        Some(_) => {
            let slash = path.iter().rposition(|byte| *byte == b'/').map_or(0, |place| place + 1);
            without_dots(&[&path[..slash], location].concat())
        }
    }
}

/// Without `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(target: &[u8]) -> Vec<u8> {
    let end = target.iter().position(|byte| *byte == b'?').unwrap_or(target.len());
    let (path, query) = target.split_at(end);
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut parts = path.split(|byte| *byte == b'/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            b"." | b".." => {
                if part == b".." {
                    kept.pop();
                }
                if is_last {
                    kept.push(b"");
                }
            }
            _ => kept.push(part),
        }
    }
    [b"/", &kept.join(&b'/')[..], query].concat()
}

/// What can't stand in a request's first line is percent-encoded.
fn encoded(target: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(target.len());
    for byte in target {
        if byte.is_ascii_graphic() {
            out.push(*byte);
        } else {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: &str = "http://shop.example:8000";

    #[test]
    fn table_of_places() {
        let at = |location: &str, base: &str| {
            resolve(location.as_bytes(), ORIGIN, base.as_bytes())
                .map(|target| String::from_utf8(target).expect("it is ASCII"))
        };
        for (location, wanted) in [
            ("/done?id=1", "/done?id=1"),
            (" /done ", "/done"),
            ("/done#part", "/done"),
            ("http://shop.example:8000/done", "/done"),
            ("HTTP://Shop.Example:8000", "/"),
            ("http://shop.example:8000?x=1", "/?x=1"),
            ("//shop.example:8000/done", "/done"),
            ("http://shop.example:8000/x/../done//", "/done//"),
            ("/x/./../done/..?y=/../", "/?y=/../"),
            ("done", "/a/done"),
            ("./done", "/a/done"),
            ("../done?x=..", "/done?x=.."),
            ("../../../done/", "/done/"),
            ("c/..", "/a/"),
            ("?page=2", "/a/b?page=2"),
            ("", "/a/b?q=/x"),
            ("#part", "/a/b?q=/x"),
            ("/a b/ü", "/a%20b/%C3%BC"),
            ("/at/http://x", "/at/http://x"),
            ("a:b", "to a:b, another origin"),
            ("http://other.example/done", "to http://other.example/done, another origin"),
            ("https://shop.example:8000/done", "to https://shop.example:8000/done, another origin"),
            ("//other.example/", "to //other.example/, another origin"),
            ("http://shop.example:80/", "to http://shop.example:80/, another origin"),
            ("mailto:a@b", "to mailto:a@b, another origin"),
        ] {
            let found = at(location, "/a/b?q=/x").unwrap_or_else(|error| error);
            assert_eq!(found, wanted, "{location}");
        }
    }

    #[test]
    fn a_port_that_is_the_usual_one_may_be_left_out() {
        for (origin, location) in [
            ("http://h", "http://h:80/x"),
            ("http://h:80", "http://h/x"),
            ("https://h", "https://h:443/x"),
        ] {
            assert_eq!(resolve(location.as_bytes(), origin, b"/"), Ok(b"/x".to_vec()));
        }
        assert!(resolve(b"https://h:80/x", "https://h", b"/").is_err());
    }

    #[test]
    fn only_307_and_308_have_it_sent_again() {
        let redirects: Vec<_> = (100..600).filter(|status| is_redirect(*status)).collect();
        assert_eq!(redirects, [301, 302, 303, 307, 308]);
        assert_eq!(
            redirects.into_iter().filter(|it| !only_gets(*it)).collect::<Vec<_>>(),
            [307, 308]
        );
    }
}
