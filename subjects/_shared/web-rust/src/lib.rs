//! What the contract `web` says of rows, counts and the page; the same for every Rust framework.

mod store;

use askama::Template;
use serde::{Deserialize, Serialize};

pub use askama::Error as PageError;
pub use store::{Failed, Store};

const ROWS: i64 = 10_000;
const STEP: i64 = 7919;
const MOST: i64 = 100;

pub const GREETING: &str = "Hello, World!";
pub const HTML: &str = "text/html; charset=utf-8";

/// The reply of /json.
#[derive(Serialize)]
pub struct Message {
    pub message: &'static str,
}

/// A row of `world` or `cached_world`.
#[derive(Clone, Copy, Serialize)]
pub struct Row {
    pub id: i32,
    pub number: i32,
}

/// A row of the page.
pub struct Fortune {
    pub id: i32,
    pub message: String,
}

/// What comes to /login.
#[derive(Deserialize)]
pub struct Login {
    pub name: String,
    pub password: String,
}

/// What /login answers.
#[derive(Serialize)]
pub struct Token {
    pub token: String,
}

/// What is posted to /items.
#[derive(Deserialize)]
pub struct Text {
    pub text: String,
}

/// An item of an account.
#[derive(Serialize)]
pub struct Item {
    pub id: i32,
    pub text: String,
}

/// The body of a refusal.
#[derive(Serialize)]
pub struct Nothing {}

/// The query of /db, /queries, /cached and /updates.
#[derive(Deserialize)]
pub struct Asked {
    pub id: i32,
    pub count: Option<String>,
    pub number: Option<i32>,
}

impl Asked {
    /// The ids of the rows that it is for.
    pub fn ids(&self) -> Vec<i32> {
        chain(self.id, self.clamped())
    }

    /// The rows that it changes, each with its new number.
    pub fn changes(&self) -> Vec<Row> {
        let numbers = chain(self.number.unwrap_or(1), self.clamped());
        let rows = self.ids().into_iter().zip(numbers);
        rows.map(|(id, number)| Row { id, number }).collect()
    }

    fn clamped(&self) -> i64 {
        let count = self.count.as_deref().unwrap_or("").parse::<i64>();
        count.unwrap_or(1).clamp(1, MOST)
    }
}

fn chain(first: i32, count: i64) -> Vec<i32> {
    let from = i64::from(first) - 1;
    (0..count).map(|place| ((from + place * STEP) % ROWS + 1) as i32).collect()
}

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Page<'a> {
    fortunes: &'a [Fortune],
}

/// The page of these rows, and of the one that is added.
pub fn page(mut fortunes: Vec<Fortune>) -> Result<String, PageError> {
    let message = "One more fortune, made while you wait.".to_owned();
    fortunes.push(Fortune { id: 0, message });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    Page { fortunes: &fortunes }.render()
}

/// The token of an Authorization field; empty where there is none.
pub fn bearer(field: Option<&str>) -> &str {
    let said = field.unwrap_or("");
    said.strip_prefix("Bearer ").unwrap_or(said)
}

/// What the command line says: `--host H --port P --threads N [--tuned]`.
pub struct Options {
    pub host: String,
    pub port: u16,
    pub threads: usize,
    pub tuned: bool,
}

impl Options {
    /// Reads it; `--version` prints that of a package in the lock file, and ends.
    pub fn read(lock: &str, package: &str) -> Self {
        let words: Vec<String> = std::env::args().skip(1).collect();
        if words.iter().any(|word| word == "--version") {
            println!("{}", locked(lock, package).unwrap_or("unknown"));
            std::process::exit(0);
        }
        let value = |name: &str| {
            let at = words.iter().position(|word| word == name);
            at.and_then(|at| words.get(at + 1)).cloned().unwrap_or_default()
        };
        Self {
            host: value("--host"),
            port: value("--port").parse().unwrap_or(0),
            threads: value("--threads").parse().unwrap_or(1),
            tuned: words.iter().any(|word| word == "--tuned"),
        }
    }
}

/// The locked version of a package.
fn locked<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    let version = lines.find_map(|line| line.strip_prefix("version = \""))?;
    version.strip_suffix('"')
}
