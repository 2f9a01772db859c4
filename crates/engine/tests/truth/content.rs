//! What is sent and what is right: numbers in JSON, and what is learned.

use serde_json::{Value, json};
use wiretrial_load::plan::Plan;
use wiretrial_respond::Script;

use crate::outcome::checked;
use crate::rig::Rig;

fn json_plan(rig: &Rig, scheme: &str, text: &str) -> Value {
    let mut plan = rig.plan(scheme);
    plan["target"]["message"] =
        json!({"kind": "text", "is_json": true, "source": {"from": "template", "text": text}});
    plan["load"] = json!({"connections": 3, "depth": 4});
    plan
}

#[test]
fn a_number_in_json_is_as_long_as_it_has_digits() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "ws", "tcp"] {
        let outcome = checked(&json_plan(&rig, scheme, r#"{"id":{seq},"key":"{seq}"}"#));
        let summary = &outcome.summary;
        assert_eq!(summary.counters.ok, 100, "{scheme}: {:?}", outcome.errors());
        // 1 to 100.
        let digits = 9 + 2 * 90 + 3;
        let constant = r#"{"id":,"key":"0123456789abcdef"}"#.len() as u64;
        assert_eq!(summary.bytes.payload_sent, 100 * constant + digits, "{scheme}");
        assert_eq!(summary.bytes.payload_received, 100 * constant + digits, "{scheme}");
    }
}

#[test]
fn what_was_learned_is_told() {
    let rig = Rig::new(Script::default());
    let mut plan = json_plan(&rig, "http", r#"{"id":{seq}}"#);
    plan["target"]["expect"] = json!({"content": {"is": "learned"}});
    let learned = checked(&plan).start.learned.expect("learned");
    assert_eq!(learned.to_string(), r#"learned: 8 bytes (an echo of the request), {"id":0}"#);

    plan["target"]["url"] =
        json!(plan["target"]["url"].as_str().expect("a URL").replace("/echo", "/message"));
    plan["target"]["message"] = json!({});
    let outcome = checked(&plan);
    let learned = outcome.start.learned.expect("learned");
    assert_eq!((learned.bytes, learned.echo), (outcome.start.reply_payload_bytes.unwrap(), false));
    assert!(!learned.excerpt.is_empty());

    plan["target"]["expect"] = json!({"content": {"is": "fixed", "base64": ""}});
    let refused = crate::outcome::run(&plan).expect_err("another content");
    assert!(refused.to_string().contains("not what is expected"), "{refused}");
}

#[test]
fn replies_that_vary_are_right_where_their_rules_hold() {
    let rig = Rig::new(Script::default());
    let text = r#"{"id":{seq},"kind":"said","parts":[{"key":"{seq}"}]}"#;
    let rules = ["json:kind=said", "json:parts[0].key", r#"regex:"id":\d+,"#];
    for scheme in ["http", "ws"] {
        let mut plan = json_plan(&rig, scheme, text);
        for content in [json!({"is": "status"}), json!({"is": "matching", "rules": rules})] {
            plan["target"]["expect"] = json!({"content": content});
            let outcome = checked(&plan);
            assert_eq!(outcome.summary.counters.ok, 100, "{scheme}: {:?}", outcome.errors());
            let first = outcome.start.learned.expect("it is shown").to_string();
            assert!(
                first.starts_with(r#"the first one: 59 bytes, {"id":0,"kind":"said","#),
                "{first}"
            );
        }
        let rules = [rules[0], "json:parts[0].key=other"];
        plan["target"]["expect"] = json!({"content": {"is": "matching", "rules": rules}});
        let refused = crate::outcome::run(&plan).expect_err("another key").to_string();
        assert!(
            refused.contains(r#"parts[0].key was "ffffffffffffffff", not "other", in '{"#),
            "{refused}"
        );
    }
}

#[test]
fn replies_that_break_a_rule_are_mismatches() {
    for scheme in ["http", "ws"] {
        // Every 10th reply has another byte in the middle.
        let rig = Rig::faulty("wrong@10");
        let mut plan = json_plan(&rig, scheme, r#"{"id":{seq},"kind":"said"}"#);
        let text = "regex:^[!-~]*$";
        plan["target"]["expect"] =
            json!({"content": {"is": "matching", "rules": [text, "json:id"]}});
        let outcome = checked(&plan);
        let wrong = outcome.errors().get("mismatch").copied().unwrap_or_default();
        assert!((9..=11).contains(&wrong), "{scheme}: {wrong} of 100: {:?}", outcome.errors());
        assert!(outcome.summary.examples.contains_key("mismatch"));
    }
}

#[test]
fn replies_of_a_shape_are_right_and_others_told_by_their_first_fault() {
    let text = r#"{"id":{seq},"parts":[{"key":"{seq}"}]}"#;
    let shape = |key: Value| {
        let part = json!({"types": ["object"], "members": [{"name": "key", "shape": key}]});
        json!({"is": "shaped", "shape": {"types": ["object"], "others": false, "members": [
            {"name": "id", "shape": {"types": ["integer"]}},
            {"name": "parts", "shape": {"types": ["list"], "length": [1, 1], "items": part}},
        ]}})
    };
    let digits = shape(json!({"types": ["string"], "pattern": "^[0-9a-f]{16}$"}));
    for scheme in ["http", "ws"] {
        let rig = Rig::new(Script::default());
        let mut plan = json_plan(&rig, scheme, text);
        plan["target"]["expect"] = json!({"content": digits});
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 100, "{scheme}: {:?}", outcome.errors());
        plan["target"]["expect"] = json!({"content": shape(json!({"types": ["uuid"]}))});
        let refused = crate::outcome::run(&plan).expect_err("another key").to_string();
        let says = r#"$.parts[0].key was "ffffffffffffffff", a text, not a UUID, in '{"id":0,"#;
        assert!(refused.contains(says), "{refused}");
        // Every 10th reply has another byte in the middle.
        let rig = Rig::faulty("wrong@10");
        let mut plan = json_plan(&rig, scheme, text);
        plan["target"]["expect"] = json!({"content": digits});
        let outcome = checked(&plan);
        let wrong = outcome.errors().get("mismatch").copied().unwrap_or_default();
        assert!((9..=11).contains(&wrong), "{scheme}: {wrong} of 100: {:?}", outcome.errors());
    }
}

#[test]
fn rules_that_cannot_be_are_refused() {
    let rig = Rig::new(Script::default());
    for (scheme, content, says) in [
        ("http", json!({"is": "matching", "rules": []}), "there is no rule"),
        ("ws", json!({"is": "matching", "rules": ["regex:("]}), "unclosed group"),
        ("tcp", json!({"is": "matching", "rules": ["json:a"]}), "only be checked as an echo"),
        ("tcp", json!({"is": "status"}), "only be checked as an echo"),
        ("tcp", json!({"is": "shaped", "shape": {}}), "only be checked as an echo"),
        (
            "ws",
            json!({"is": "shaped", "shape": {"items": {"length": [2, 1]}}}),
            "expect.content: shape of $[*]: a length of 2 to 1",
        ),
    ] {
        let mut plan = json_plan(&rig, scheme, "{}");
        plan["target"]["expect"] = json!({"content": content});
        let refused = Plan::from_json(&plan.to_string()).expect_err(says).to_string();
        assert!(refused.contains(says) && !refused.contains('\n'), "{refused}");
    }
}
