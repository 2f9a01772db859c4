//! What is sent and what is right: numbers in JSON, and what is learned.

use serde_json::{Value, json};
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
