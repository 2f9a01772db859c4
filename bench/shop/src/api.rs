//! What the shop answers: each reply follows from the request alone, but for an order's number and the faults.
//!
//! Knows routes, users and prices. Must not know sockets, nor when a reply is sent.

use std::io::Write;

use serde::Deserialize;

use crate::faults::Faults;

const PAGES: usize = 25;
const PAGE_SIZE: u64 = 20;
/// Mixed into a token, so that no user's can be told from another's.
const SECRET: u64 = 0x5EED_0F70_4B1D_7357;

/// One request.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    /// The token of its Authorization field.
    pub(crate) token: Option<&'a str>,
    pub(crate) body: &'a [u8],
}

/// When a reply goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Now,
    /// Held back.
    Late,
}

/// The application.
#[derive(Debug)]
pub(crate) struct Api {
    /// The items of each page, as JSON.
    pages: Vec<String>,
    orders: u64,
    body: Vec<u8>,
    pub(crate) faults: Faults,
}

#[derive(Deserialize)]
struct Login<'a> {
    user: &'a str,
}

#[derive(Deserialize)]
struct Order {
    item: u64,
    quantity: u64,
}

impl Api {
    pub(crate) fn new(faults: Faults) -> Self {
        let item = |id| format!(r#"{{"id":{id},"name":"Item {id}","price_cents":{}}}"#, price(id));
        let page = |number: usize| {
            let first = number as u64 * PAGE_SIZE;
            (first..first + PAGE_SIZE).map(item).collect::<Vec<_>>().join(",")
        };
        Self { pages: (0..PAGES).map(page).collect(), orders: 0, body: Vec::new(), faults }
    }

    /// Appends the reply to a request.
    pub(crate) fn answer(&mut self, asked: &Asked<'_>, out: &mut Vec<u8>) -> When {
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let (status, when) = self.route(asked, &mut body).unwrap_or_else(|status| {
            body.clear();
            body.extend_from_slice(format!(r#"{{"error":"{status}"}}"#).as_bytes());
            (status, When::Now)
        });
        let length = body.len();
        say(out, format_args!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"));
        say(out, format_args!("Content-Length: {length}\r\n\r\n"));
        out.extend_from_slice(&body);
        self.body = body;
        when
    }

    fn route(
        &mut self,
        asked: &Asked<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(&'static str, When), &'static str> {
        const MISSING: &str = "404 Not Found";
        let right = Ok(("200 OK", When::Now));
        let (path, query) = asked.target.split_once('?').unwrap_or((asked.target, ""));
        match (asked.method, path) {
            ("GET", "/planted") => {
                out.extend_from_slice(self.faults.planted().as_bytes());
                return right;
            }
            ("POST", "/login") => {
                let login: Login<'_> = read(asked.body)?;
                let user = number_of(login.user).ok_or("401 Unauthorized")?;
                say(out, format_args!(r#"{{"user":"u{user}","token":"{user}."#));
                say(out, format_args!(r#"{:016x}"}}"#, sign(user)));
                return right;
            }
            ("GET", _) if path.starts_with("/plain/") => {
                let name = &path["/plain/".len()..];
                say(out, format_args!(r#"{{"route":"{name}","is_right":true,"pad":"{PAD}"}}"#));
                return right;
            }
            _ => {}
        }
        let user = asked.token.and_then(user_of).ok_or("401 Unauthorized")?;
        match (asked.method, path) {
            ("GET", "/items") => {
                let number: usize = query
                    .strip_prefix("page=")
                    .and_then(|page| page.parse().ok())
                    .ok_or(MISSING)?;
                let items = self.pages.get(number).ok_or(MISSING)?;
                say(out, format_args!(r#"{{"user":"u{user}","page":{number},"items":[{items}]}}"#));
                Ok(("200 OK", if self.faults.slow() { When::Late } else { When::Now }))
            }
            ("GET", _) => {
                let id = path.strip_prefix("/items/").and_then(|id| id.parse().ok());
                let id: u64 = id.ok_or(MISSING)?;
                let user = if self.faults.leak() { user + 1 } else { user };
                say(out, format_args!(r#"{{"id":{id},"user":"u{user}","name":"Item {id}","#));
                say(out, format_args!(r#""price_cents":{},"stock":{}}}"#, price(id), id % 7));
                right
            }
            ("POST", "/orders") => {
                let Order { item, quantity } = read(asked.body)?;
                if self.faults.overload() {
                    return Err("500 Internal Server Error");
                }
                self.orders += 1;
                let number = self.orders;
                let total = price(item).saturating_mul(quantity) + u64::from(self.faults.total());
                say(out, format_args!(r#"{{"number":{number},"user":"u{user}","item":{item},"#));
                say(out, format_args!(r#""quantity":{quantity},"total_cents":{total}}}"#));
                Ok(("201 Created", When::Now))
            }
            _ => Err(MISSING),
        }
    }
}

/// So that a plain reply is as long as that of an item and somewhat more.
const PAD: &str = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

const fn price(item: u64) -> u64 {
    700 + 13 * (item % 97)
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, &'static str> {
    serde_json::from_slice(body).map_err(|_| "400 Bad Request")
}

fn number_of(user: &str) -> Option<u64> {
    user.strip_prefix('u')?.parse::<u32>().ok().map(u64::from)
}

/// The user of a token, if it is one.
fn user_of(token: &str) -> Option<u64> {
    let (user, signature) = token.split_once('.')?;
    let user = user.parse().ok()?;
    (u64::from_str_radix(signature, 16).ok()? == sign(user)).then_some(user)
}

const fn sign(user: u64) -> u64 {
    let mixed = (user ^ SECRET).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

fn say(out: &mut Vec<u8>, words: std::fmt::Arguments<'_>) {
    // Nothing that is written to a vector can fail.
    let _ = out.write_fmt(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(
        api: &mut Api,
        method: &str,
        target: &str,
        token: Option<&str>,
        body: &str,
    ) -> String {
        let mut out = Vec::new();
        api.answer(&Asked { method, target, token, body: body.as_bytes() }, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_session_is_answered() {
        let mut api = Api::new(Faults::default());
        let login = answer(&mut api, "POST", "/login", None, r#"{"user":"u7"}"#);
        let token = login.split('"').nth(7).unwrap().to_owned();
        let list = answer(&mut api, "GET", "/items?page=2", Some(&token), "");
        assert!(list.contains(r#""user":"u7","page":2,"items":[{"id":40,"#), "{list}");
        let item = answer(&mut api, "GET", "/items/40", Some(&token), "");
        assert!(item.contains(r#"{"id":40,"user":"u7","#), "{item}");
        let order = r#"{"item":40,"quantity":3}"#;
        let order = answer(&mut api, "POST", "/orders", Some(&token), order);
        assert!(order.starts_with("HTTP/1.1 201 ") && order.contains(r#""total_cents":3660}"#));
    }

    #[test]
    fn a_request_that_is_not_right_is_refused() {
        let mut api = Api::new(Faults::default());
        let rows = [
            ("GET", "/items?page=2", "", "401"),
            ("POST", "/login", "{}", "400"),
            ("POST", "/login", r#"{"user":"x"}"#, "401"),
            ("GET", "/plain/a", "", "200"),
        ];
        for (method, target, body, status) in rows {
            let reply = answer(&mut api, method, target, Some("7.1"), body);
            assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{reply}");
        }
    }
}
