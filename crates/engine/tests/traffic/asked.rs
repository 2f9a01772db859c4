//! Traffic that is asked without load: each exchange is told with all that was sent and came, and judged as a load
//! judges it.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use wiretrial_load::Asking;
use wiretrial_load::clock::Nanos;
use wiretrial_load::exchange::{End, Exchange};
use wiretrial_respond::ServerPlan;

use crate::application::Application;
use crate::{equals, exchanges, feeds, flows, outcome, plan};

/// What comes of asking so many sessions of each flow on so many connections.
fn asked(plan: &Value, sessions: u32, connections: u32) -> (Vec<Exchange>, End) {
    let asking = Asking {
        sessions,
        connections,
        most_body: 1 << 20,
        time_limit: Nanos::from_secs(60),
        is_patient: true,
    };
    exchanges::of(plan, &asking)
}

fn text(base64: &str) -> String {
    String::from_utf8(BASE64_STANDARD.decode(base64).expect("base64")).expect("UTF-8")
}

fn field(exchange: &Exchange, name: &str) -> String {
    let fields = &exchange.request_headers;
    let field = fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
    field.map(|(_, value)| value.clone()).unwrap_or_default()
}

#[test]
fn each_exchange_is_told_with_all_that_it_sent_and_captured() {
    for tls in [false, true] {
        let application = Application::start(tls);
        let (exchanges, end) = asked(&plan(&application, 1), 3, 2);
        assert_eq!(end, End { asked: 12, failed: 0, left: 0 });
        assert_eq!(application.requests(), 12, "nothing else was asked");
        let sessions: Vec<Vec<&Exchange>> = (0..6)
            .map(|number| exchanges.iter().filter(|it| it.session == number).collect())
            .collect();
        let shops = sessions.iter().filter(|all| all[0].flow.as_deref() == Some("shop"));
        for (session, user) in shops.zip(["ann", "b\"b &", "cy"]) {
            let [login, items, again] = session[..] else { panic!("{session:?}") };
            assert_eq!(login.url, format!("{}/login", application.url()));
            assert_eq!((login.method.as_str(), login.route.as_str()), ("POST", "POST /login"));
            let sent: Value = serde_json::from_str(&text(&login.request_body)).expect("JSON");
            assert_eq!(sent["user"], user);
            // Behind all of a load's, and exact in any reader of JSON.
            let number = sent["n"].as_u64().expect("a number");
            assert!(number > 1 << 52 && number < 1 << 53, "{number}");
            assert_eq!(field(login, "content-type"), "application/json");
            assert_eq!(field(login, "content-length"), text(&login.request_body).len().to_string());
            assert_eq!(field(login, "cookie"), "");
            let came: Value = serde_json::from_str(&text(&login.body)).expect("JSON");
            assert_eq!(json!(login.captures["token"]), came["token"]);
            assert!(login.headers.iter().any(|(name, _)| name == "Set-Cookie"), "{login:?}");

            assert_eq!(
                field(items, "authorization"),
                format!("Bearer {}", login.captures["token"])
            );
            assert!(field(items, "cookie").starts_with("sid="), "{items:?}");
            assert_eq!(field(again, "cookie"), field(items, "cookie"));
            assert!(text(&items.body).contains("\"items\":["), "{}", text(&items.body));
            let came = items.checks.iter().map(|it| (it.holds, it.came.as_str(), &it.fault));
            let shown = format!("{user:?}");
            let expected = ["200", "20", &shown, "'application/json'"];
            assert!(came.eq(expected.map(|came| (true, came, &None))), "{:?}", items.checks);
            for exchange in [login, items, again] {
                assert_eq!((exchange.status, exchange.outcome.as_str()), (Some(200), "ok"));
                assert_eq!((&exchange.fault, exchange.is_cut), (&None, false));
                assert!(exchange.service_ns > Some(0));
                assert_eq!(exchange.body_bytes, text(&exchange.body).len() as u64);
            }
        }
        for (number, session) in sessions.iter().enumerate() {
            let is_in_turn = session.iter().all(|it| it.connection as usize == number % 2);
            assert!(is_in_turn, "{session:?}");
        }
    }
}

#[test]
fn what_is_said_of_a_reply_is_what_a_load_says() {
    let application = Application::start(false);
    let get = |target: &str| json!({"name": "it", "method": "GET", "target": [{"text": target}]});
    let mut checked = get("/empty");
    checked["expect"] = json!({"checks": [{"of": {"json": "$.n"}, "test": {"is": "exists"}}]});
    let mut captured = get("/empty");
    captured["captures"] = json!([{"name": "token", "of": {"json": "$.token"}}]);
    let mut exact = get("/page");
    exact["expect"] = json!({"body": [{"text": "a pear"}]});
    let rows = [
        (get("/error"), "status", 500),
        (checked, "mismatch", 200),
        (captured, "capture", 200),
        (exact, "mismatch", 200),
    ];
    for (route, class, status) in rows {
        let mut plan = plan(&application, 1);
        plan["traffic"]["routes"][0] = route;
        plan["traffic"]["flows"] = json!([{"name": "f", "steps": [{"route": 0}, {"route": 2}]}]);
        let (exchanges, end) = asked(&plan, 2, 1);
        assert_eq!(end, End { asked: 2, failed: 2, left: 0 }, "a session ends where it fails");
        let [first, _] = &exchanges[..] else { panic!("{exchanges:?}") };
        assert_eq!((first.outcome.as_str(), first.status), (class, Some(status)));
        assert!(first.captures.is_empty() && !first.is_cut);
        let fault = first.fault.as_deref().expect("a fault");
        let refused = outcome::run(&plan).expect_err("a load says so, too").to_string();
        assert!(refused.ends_with(fault), "{refused}: {fault}");
        let failed = first.checks.iter().filter_map(|it| it.fault.as_deref());
        let failed: Vec<_> = failed.collect();
        assert_eq!(failed.len(), usize::from(class != "capture"), "{failed:?}");
        assert!(failed.iter().all(|failed| fault.starts_with(failed)), "{failed:?}: {fault}");
    }
}

#[test]
fn rows_that_belong_to_one_user_come_from_the_end() {
    let application = Application::start(false);
    let mut plan = plan(&application, 1);
    plan["traffic"]["feeds"] = feeds("unique");
    plan["load"]["connections"] = json!(1);
    let shop = flows()[0].clone();
    plan["traffic"]["flows"] = json!([shop]);
    let (exchanges, end) = asked(&plan, 4, 1);
    assert_eq!((end.asked, end.failed), (12, 0));
    let logins = exchanges.iter().filter(|it| it.method == "POST");
    let users = logins.map(|it| {
        let sent: Value = serde_json::from_str(&text(&it.request_body)).expect("JSON");
        sent["user"].as_str().unwrap_or_default().to_owned()
    });
    assert_eq!(users.collect::<Vec<_>>(), ["cy", "b\"b &", "ann", "cy"]);
}

#[test]
fn a_conversation_is_told_step_by_step() {
    let anywhere: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let plan = ServerPlan { http: vec![anywhere], ..ServerPlan::default() };
    let server = wiretrial_respond::start(plan).expect("the server starts");
    let address = server.addresses().http[0];
    let say = json!({
        "name": "say", "does": "send", "text": [{"text": "{\"id\":"}, {"make": "seq"}, {"text": "}"}],
        "awaits": [{
            "of": {"json": "$.id"},
            "test": {"is": "compared", "how": "==", "with": {"text": [{"make": "seq"}]}},
        }],
        "captures": [{"name": "id", "of": {"json": "$.id"}}],
    });
    let again = json!({"name": "again", "does": "send", "text": [{"value": "id"}]});
    let echo =
        json!({"name": "echo", "does": "await", "awaits": [equals(&json!("body"), &json!("x"))]});
    let open = json!({"name": "open", "does": "open", "target": [{"text": "/?a=b"}]});
    let close = json!({"name": "close", "does": "close"});
    let lines = json!([open, say, again, echo, close]);
    let plan = |steps: &[u32]| {
        let steps: Vec<_> = steps.iter().map(|route| json!({"route": route})).collect();
        json!({
            "schema": "wiretrial-plan", "version": 1,
            "target": {"url": format!("ws://{address}/")},
            "load": {"connections": 1},
            "stop": {"sessions": 1},
            "phases": {"timeout_ns": 300_000_000},
            "traffic": {
                "routes": [], "lines": lines, "flows": [{"name": "talk", "steps": steps}],
            },
        })
    };
    let (exchanges, end) = asked(&plan(&[0, 1, 2, 4]), 2, 1);
    assert_eq!(end, End { asked: 8, failed: 0, left: 0 });
    let [open, say, again, close] = &exchanges[4..] else { panic!("{exchanges:?}") };
    let methods = [open, say, again, close].map(|it| it.method.as_str());
    assert_eq!(methods, ["OPEN", "SEND", "SEND", "CLOSE"]);
    for step in [open, say, again, close] {
        assert_eq!((step.url.as_str(), step.session), (&*format!("ws://{address}/?a=b"), 1));
        assert_eq!((step.status, step.outcome.as_str()), (None, "ok"));
    }
    assert_eq!(text(&say.body), text(&say.request_body), "the answer is an echo");
    assert_eq!(text(&again.request_body), say.captures["id"]);
    assert_eq!((again.body.as_str(), again.is_cut, again.service_ns), ("", false, None));

    let (exchanges, end) = asked(&plan(&[0, 1, 3, 4]), 1, 1);
    assert_eq!(end, End { asked: 3, failed: 1, left: 0 });
    let awaited = &exchanges[2];
    assert_eq!((awaited.method.as_str(), awaited.outcome.as_str()), ("AWAIT", "timeout"));
    assert!(awaited.fault.as_deref().is_some_and(|it| it.starts_with("no such message")));
}
