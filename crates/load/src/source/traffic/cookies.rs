//! The cookies of one user: what replies set, and what goes with the next request (RFC 6265).
//!
//! Knows Set-Cookie and one origin. Must not know requests. Of domains nothing is asked, as there is one
//! origin; of times only whether they have passed.

/// The cookies of one session, in one piece of memory, which is kept for the next session.
#[derive(Debug, Default)]
pub struct Jar {
    all: Vec<Cookie>,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Cookie {
    /// Where its name begins and ends, its value, its path, one after the other.
    begin: usize,
    name: usize,
    value: usize,
    path: usize,
}

/// The name and the value that a Set-Cookie field begins with.
pub(super) fn pair(field: &[u8]) -> (&[u8], &[u8]) {
    let pair = field.split(|byte| *byte == b';').next().unwrap_or_default();
    split(pair)
}

fn split(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| *byte == b'=') {
        Some(place) => (text[..place].trim_ascii(), text[place + 1..].trim_ascii()),
        None => (text.trim_ascii(), &[]),
    }
}

impl Jar {
    /// Another session begins.
    pub fn clear(&mut self) {
        self.all.clear();
        self.bytes.clear();
    }

    /// A reply to a request of this path has such a Set-Cookie field.
    pub fn set(&mut self, field: &[u8], target: &[u8]) {
        let (name, value) = pair(field);
        if name.is_empty() {
            return;
        }
        let mut path = default_path(target);
        let (mut is_over, mut has_age) = (false, false);
        for attribute in field.split(|byte| *byte == b';').skip(1) {
            let (key, value) = split(attribute);
            if key.eq_ignore_ascii_case(b"path") {
                path = if value.starts_with(b"/") { value } else { default_path(target) };
            } else if key.eq_ignore_ascii_case(b"max-age") {
                has_age = true;
                is_over = value.starts_with(b"-") || value == b"0";
            } else if key.eq_ignore_ascii_case(b"expires") && !has_age {
                // Who ends a cookie names the beginning of time; sessions are shorter than others last.
                is_over = value.windows(4).any(|year| year == b"1970");
            }
        }
        let same = self.all.iter().position(|it| self.name(*it) == name && self.path(*it) == path);
        if let Some(place) = same {
            self.all.remove(place);
        }
        if is_over {
            return;
        }
        self.make_room(name.len() + value.len() + path.len());
        let begin = self.bytes.len();
        let mut ends = [0; 3];
        for (end, part) in ends.iter_mut().zip([name, value, path]) {
            self.bytes.extend_from_slice(part);
            *end = self.bytes.len();
        }
        self.all.push(Cookie { begin, name: ends[0], value: ends[1], path: ends[2] });
    }

    /// Appends the cookies that go with a request of this target.
    pub fn write(&self, target: &[u8], out: &mut Vec<u8>) {
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        let mut is_first = true;
        for cookie in self.all.iter().filter(|it| matches(path, self.path(**it))) {
            if !is_first {
                out.extend_from_slice(b"; ");
            }
            is_first = false;
            out.extend_from_slice(self.name(*cookie));
            out.push(b'=');
            out.extend_from_slice(&self.bytes[cookie.name..cookie.value]);
        }
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn name(&self, cookie: Cookie) -> &[u8] {
        &self.bytes[cookie.begin..cookie.name]
    }

    fn path(&self, cookie: Cookie) -> &[u8] {
        &self.bytes[cookie.value..cookie.path]
    }

    /// Cookies that are set again and again leave memory behind, which is used again before more is asked for.
    fn make_room(&mut self, more: usize) {
        if self.bytes.len() + more <= self.bytes.capacity() {
            return;
        }
        let live: usize = self.all.iter().map(|it| it.path - it.begin).sum();
        if live > self.bytes.len() / 2 {
            return;
        }
        let mut bytes = Vec::with_capacity(self.bytes.capacity());
        for cookie in &mut self.all {
            let moved = bytes.len();
            bytes.extend_from_slice(&self.bytes[cookie.begin..cookie.path]);
            let by = |place: usize| place - cookie.begin + moved;
            *cookie = Cookie {
                begin: moved,
                name: by(cookie.name),
                value: by(cookie.value),
                path: by(cookie.path),
            };
        }
        self.bytes = bytes;
    }
}

/// RFC 6265 section 5.1.4.
fn default_path(target: &[u8]) -> &[u8] {
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(place) if place > 0 => &path[..place],
        _ => b"/",
    }
}

fn matches(path: &[u8], of: &[u8]) -> bool {
    path.strip_prefix(of)
        .is_some_and(|rest| rest.is_empty() || of.ends_with(b"/") || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(jar: &Jar, target: &str) -> String {
        let mut out = Vec::new();
        jar.write(target.as_bytes(), &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn cookies_go_with_the_requests_of_their_path() {
        let mut jar = Jar::default();
        for field in [
            "sid=a=b; Path=/; HttpOnly",
            " theme = dark ; path=/app",
            "own=1",
            "gone=1; path=/",
            "odd; path=x",
            "=nameless",
        ] {
            jar.set(field.as_bytes(), b"/app/login?x=/y/");
        }
        jar.set(b"gone=; Max-Age=0; path=/", b"/");
        let rows = [
            ("/", "sid=a=b"),
            ("/app", "sid=a=b; theme=dark; own=1; odd="),
            ("/app/x?y", "sid=a=b; theme=dark; own=1; odd="),
            ("/apple", "sid=a=b"),
        ];
        for (target, cookies) in rows {
            assert_eq!(sent(&jar, target), cookies, "{target}");
        }
        jar.set(b"sid=; expires=Thu, 01 Jan 1970 00:00:00 GMT; path=/", b"/");
        jar.set(b"theme=light; expires=Thu, 01 Jan 1970 00:00:00 GMT; max-age=5; path=/app", b"/");
        assert_eq!(sent(&jar, "/app"), "own=1; odd=; theme=light");
        jar.clear();
        assert!(jar.is_empty() && sent(&jar, "/app").is_empty());
    }

    #[test]
    fn a_cookie_that_is_set_for_ever_takes_no_more_memory() {
        let mut jar = Jar::default();
        jar.set(b"kept=1; path=/", b"/");
        for number in 0..10_000 {
            jar.set(format!("sid={number}; path=/").as_bytes(), b"/");
        }
        assert_eq!(sent(&jar, "/"), "kept=1; sid=9999");
        assert!(jar.bytes.capacity() < 500, "{}", jar.bytes.capacity());
    }
}
