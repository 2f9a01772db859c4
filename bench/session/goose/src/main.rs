//! The session for goose, each reply checked. Its last line is what it counted, as JSON.
//!
//! Settings come as environment variables: THINK is mean seconds between requests, 0 for none.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use goose::prelude::*;
use serde_json::{Value, json};

static FEED: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let text = std::fs::read_to_string("users.csv").expect("users.csv is read");
    text.lines().skip(1).map(Row::of).collect()
});
static NEXT: AtomicUsize = AtomicUsize::new(0);
static THINK: LazyLock<f64> =
    LazyLock::new(|| std::env::var("THINK").ok().and_then(|it| it.parse().ok()).unwrap_or(0.0));

struct Row {
    user: String,
    page: u64,
    quantity: u64,
    total: u64,
}

impl Row {
    fn of(line: &str) -> Self {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse().expect("a number");
        Self { user: fields[0].to_owned(), page: number(1), quantity: number(2), total: number(3) }
    }
}

/// One request, and what its reply has to be.
struct Step<'a> {
    name: &'static str,
    method: GooseMethod,
    path: String,
    body: Option<Value>,
    token: Option<&'a str>,
    status: u16,
    members: &'a [(&'a str, Value)],
}

#[tokio::main]
async fn main() -> Result<(), GooseError> {
    let mut scenario = scenario!("session")
        .register_transaction(transaction!(login))
        .register_transaction(transaction!(list))
        .register_transaction(transaction!(item))
        .register_transaction(transaction!(create));
    if *THINK > 0.0 {
        let times = [0.5, 1.5].map(|share| Duration::from_secs_f64(*THINK * share));
        scenario = scenario.set_wait_time(times[0], times[1])?;
    }
    let metrics = GooseAttack::initialize()?.register_scenario(scenario).execute().await?;
    let right: usize = metrics.requests.values().map(|route| route.success_count).sum();
    let wrong: HashMap<String, usize> = metrics
        .errors
        .values()
        .map(|it| (format!("{} {}", it.name, it.error), it.occurrences))
        .collect();
    let listed = metrics.requests.values().find(|route| route.path == "list");
    let p99 = listed.map_or(0.0, |route| p99_ms(&route.raw_data));
    println!("{}", json!({"right": right, "wrong": wrong, "list_p99_ms": p99}));
    Ok(())
}

/// What a session knows so far; none after a step that failed.
#[derive(Clone)]
struct Session {
    row: usize,
    token: String,
    item: Value,
}

async fn login(user: &mut GooseUser) -> TransactionResult {
    let number = NEXT.fetch_add(1, Ordering::Relaxed) % FEED.len();
    let row = &FEED[number];
    user.set_session_data(None::<Session>);
    let said = ask(
        user,
        Step {
            name: "login",
            method: GooseMethod::Post,
            path: "/login".to_owned(),
            body: Some(json!({"user": row.user})),
            token: None,
            status: 200,
            members: &[("user", json!(row.user))],
        },
    )
    .await?;
    let token = said["token"].as_str().unwrap_or_default().to_owned();
    user.set_session_data(Some(Session { row: number, token, item: Value::Null }));
    Ok(())
}

async fn list(user: &mut GooseUser) -> TransactionResult {
    let Some(session) = taken(user) else { return Ok(()) };
    let row = &FEED[session.row];
    let said = ask(
        user,
        Step {
            name: "list",
            method: GooseMethod::Get,
            path: format!("/items?page={}", row.page),
            body: None,
            token: Some(&session.token),
            status: 200,
            members: &[("user", json!(row.user)), ("page", json!(row.page))],
        },
    )
    .await?;
    let item = said["items"][0]["id"].clone();
    user.set_session_data(Some(Session { item, ..session }));
    Ok(())
}

async fn item(user: &mut GooseUser) -> TransactionResult {
    let Some(session) = taken(user) else { return Ok(()) };
    let row = &FEED[session.row];
    let step = Step {
        name: "item",
        method: GooseMethod::Get,
        path: format!("/items/{}", session.item),
        body: None,
        token: Some(&session.token),
        status: 200,
        members: &[("user", json!(row.user)), ("id", session.item.clone())],
    };
    ask(user, step).await?;
    user.set_session_data(Some(session));
    Ok(())
}

async fn create(user: &mut GooseUser) -> TransactionResult {
    let Some(session) = taken(user) else { return Ok(()) };
    let row = &FEED[session.row];
    let members = [
        ("user", json!(row.user)),
        ("item", session.item.clone()),
        ("total_cents", json!(row.total)),
    ];
    let step = Step {
        name: "create",
        method: GooseMethod::Post,
        path: "/orders".to_owned(),
        body: Some(json!({"item": session.item, "quantity": row.quantity})),
        token: Some(&session.token),
        status: 201,
        members: &members,
    };
    ask(user, step).await?;
    Ok(())
}

/// The user's session, which a step that succeeds puts back.
fn taken(user: &mut GooseUser) -> Option<Session> {
    user.get_session_data_mut::<Option<Session>>().and_then(Option::take)
}

/// The reply, where it is right; what is wrong is a failure of this route.
async fn ask(user: &mut GooseUser, step: Step<'_>) -> Result<Value, Box<TransactionError>> {
    let mut builder = user.get_request_builder(&step.method, &step.path)?;
    if let Some(token) = step.token {
        builder = builder.bearer_auth(token);
    }
    if let Some(body) = &step.body {
        builder = builder.json(body);
    }
    let request = GooseRequest::builder()
        .method(step.method.clone())
        .path(step.path.as_str())
        .name(step.name)
        .set_request_builder(builder)
        .build();
    let mut goose = user.request(request).await?;
    let Ok(response) = goose.response else {
        return Err(failed(user, "connection", &mut goose.request));
    };
    if response.status().as_u16() != step.status {
        // Unless it is an error, of which goose has said so itself.
        return Err(failed(user, "status", &mut goose.request));
    }
    let kind = response.headers().get("content-type").map(|it| it.as_bytes().to_vec());
    if !kind.is_some_and(|kind| kind.ends_with(b"json")) {
        return Err(failed(user, "Content-Type", &mut goose.request));
    }
    let said = match response.bytes().await {
        Ok(body) => serde_json::from_slice::<Value>(&body).unwrap_or(Value::Null),
        Err(_) => Value::Null,
    };
    for (member, wanted) in step.members {
        if said[member] != *wanted {
            return Err(failed(user, member, &mut goose.request));
        }
    }
    if step.name == "list" && said["items"].as_array().map(Vec::len) != Some(20) {
        return Err(failed(user, "items", &mut goose.request));
    }
    Ok(said)
}

fn failed(
    user: &mut GooseUser,
    what: &str,
    request: &mut goose::metrics::GooseRequestMetric,
) -> Box<TransactionError> {
    user.set_failure(what, request, None, None).expect_err("a failure that was set is an error")
}

/// The time that 99 of 100 requests took at most.
fn p99_ms(times: &goose::metrics::GooseRequestMetricTimingData) -> f64 {
    let mut buckets: Vec<_> = times.times_us.iter().collect();
    buckets.sort();
    let mut left = times.counter.div_ceil(100);
    for (time, count) in buckets.into_iter().rev() {
        if *count >= left {
            return *time as f64 / 1000.0;
        }
        left -= count;
    }
    0.0
}
