//! A service over Socket.IO: `get` answers as the route `GET /messages/ID`, `message` is echoed where
//! nobody waits for its acknowledgement, everything else is acknowledged with its own arguments.
//!
//! Knows what is asked for and what is right; must not know how it travels.

use serde_json::Value;
use wiretrial_proto::Scratch;
use wiretrial_proto::socketio::{SocketIoEvent, SocketIoServer};

use crate::protocol::Heard;
use crate::sink::{BACKLOG_LIMIT, Ending, Sink};

/// One client.
#[derive(Debug)]
pub(crate) struct SocketIoConversation {
    codec: SocketIoServer,
    /// Of the acknowledgement.
    content: Vec<u8>,
}

/// What becomes of an event.
enum Answer {
    /// Nobody waits for one.
    None,
    /// The content, under this number.
    Acknowledge(u64),
    /// The content, as an event.
    Emit,
    /// It cannot be read.
    Refuse,
    GoodBye,
    /// Nothing was asked.
    Listen,
}

impl SocketIoConversation {
    /// A session with this number, behind its upgrade. The greeting goes out first.
    pub(crate) fn new(session: u64, max_message: u64, sink: &mut Sink<'_>) -> Self {
        let mut codec = SocketIoServer::new(session, max_message);
        codec.greet(sink.out);
        sink.settle();
        Self { codec, content: Vec::new() }
    }

    pub(crate) fn take(
        &mut self,
        input: &mut [u8],
        unpacked: &mut Scratch,
        sink: &mut Sink<'_>,
    ) -> Heard {
        let mut taken = 0;
        while !sink.is_finished() {
            if sink.backlog() >= BACKLOG_LIMIT {
                sink.settle();
                return Heard { taken, blocked: true };
            }
            let answer = match self.codec.receive(&mut input[taken..], unpacked, sink.out) {
                Err(_) => Answer::Refuse,
                Ok(step) => {
                    taken += step.consumed;
                    match step.event {
                        None => Answer::Listen,
                        Some(SocketIoEvent::Close) => Answer::GoodBye,
                        Some(SocketIoEvent::Connected) => Answer::None,
                        Some(SocketIoEvent::Event { id: None, arguments }) => {
                            if is_message(arguments) {
                                self.content.clear();
                                self.content.extend_from_slice(arguments);
                                Answer::Emit
                            } else {
                                Answer::None
                            }
                        }
                        Some(SocketIoEvent::Event { id: Some(id), arguments }) => {
                            self.content.clear();
                            match answer(arguments, &mut self.content) {
                                Some(()) => Answer::Acknowledge(id),
                                None => Answer::Refuse,
                            }
                        }
                    }
                }
            };
            match answer {
                Answer::None => {}
                Answer::Listen => {
                    sink.settle();
                    return Heard { taken, blocked: false };
                }
                Answer::GoodBye => sink.finish(Ending::Orderly),
                Answer::Refuse => {
                    self.codec.close(1002, sink.out);
                    sink.finish(Ending::Early);
                }
                Answer::Acknowledge(id) => {
                    sink.begin().apply(&mut self.content);
                    self.codec.acknowledge(id, &self.content, sink.out);
                    sink.end();
                }
                Answer::Emit => {
                    sink.begin().apply(&mut self.content);
                    self.codec.emit(&self.content, sink.out);
                    sink.end();
                }
            }
        }
        Heard { taken: input.len(), blocked: false }
    }

    /// The server goes away.
    pub(crate) fn go_away(&mut self, out: &mut Vec<u8>) {
        self.codec.close(1001, out);
    }
}

/// Whether the event is a message with one argument, which is echoed.
fn is_message(arguments: &[u8]) -> bool {
    serde_json::from_slice::<(&str, Value)>(arguments).is_ok_and(|(name, _)| name == "message")
}

/// Appends what acknowledges an event with this name and these arguments; none: they are no array.
fn answer(arguments: &[u8], content: &mut Vec<u8>) -> Option<()> {
    // What is asked for again and again: strings without escapes, which stand for themselves.
    if let Ok(("get", "messages", id)) = serde_json::from_slice::<(&str, &str, &str)>(arguments) {
        content.extend_from_slice(b"[null,{\"id\":\"");
        content.extend_from_slice(id.as_bytes());
        content.extend_from_slice(b"\"}]");
        return Some(());
    }
    let values: Vec<Value> = serde_json::from_slice(arguments).ok()?;
    let answer = match &values[..] {
        [Value::String(name), Value::String(service), id, ..]
            if name == "get" && service == "messages" =>
        {
            serde_json::json!([null, { "id": id }])
        }
        [_, arguments @ ..] => Value::from(arguments),
        [] => return None,
    };
    serde_json::to_writer(content, &answer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_is_echoed() {
        let rows = [
            (r#"["message","hello"]"#, true),
            (r#"["message",{"list":[null,0.5]}]"#, true),
            (r#"["message"]"#, false),
            (r#"["message",1,2]"#, false),
            (r#"["other","hello"]"#, false),
            ("[]", false),
            (r#"["message","#, false),
        ];
        for (arguments, expected) in rows {
            assert_eq!(is_message(arguments.as_bytes()), expected, "{arguments}");
        }
    }

    #[test]
    fn table_of_answers() {
        let rows = [
            (r#"["get","messages","testing"]"#, Some(r#"[null,{"id":"testing"}]"#)),
            (r#"["get","messages","a\"b"]"#, Some(r#"[null,{"id":"a\"b"}]"#)),
            (r#"["get","messages",7,{}]"#, Some(r#"[null,{"id":7}]"#)),
            (r#"["get","users","7"]"#, Some(r#"["users","7"]"#)),
            (r#"["echo",1,[2]]"#, Some("[1,[2]]")),
            (r#"["ping"]"#, Some("[]")),
            ("[]", None),
            ("[1", None),
        ];
        for (arguments, expected) in rows {
            let mut content = Vec::new();
            let answered = answer(arguments.as_bytes(), &mut content).is_some();
            let content = String::from_utf8_lossy(&content);
            assert_eq!(answered.then_some(&*content), expected, "{arguments}");
        }
    }
}
