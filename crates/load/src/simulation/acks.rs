//! Answers in a conversation, right and mistaken.
//!
//! Knows JSON with a type and a number. Must not know who says them.

use serde_json::{Value, json};
use wiretrial_net::simulation::Random;

/// The right answer to what was said: to this message, of this user.
pub(super) fn acknowledged(asked: &[u8]) -> Vec<u8> {
    let asked: Value = serde_json::from_slice(asked).unwrap_or_default();
    let answer =
        json!({"items": [1, {"id": 0}], "id": asked["id"], "user": asked["user"], "type": "ack"});
    answer.to_string().into_bytes()
}

/// An answer to another message, or another user's.
pub(super) fn mistaken(asked: &[u8], random: &mut Random) -> Vec<u8> {
    let mut answer: Value = serde_json::from_slice(&acknowledged(asked)).unwrap_or_default();
    match random.up_to(3) {
        0 => answer["id"] = json!(random.any() >> 1),
        1 => answer["user"] = json!("another"),
        2 => answer["type"] = json!("nack"),
        _ => return b"{".to_vec(),
    }
    answer.to_string().into_bytes()
}
