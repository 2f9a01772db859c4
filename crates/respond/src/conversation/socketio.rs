//! A service over Socket.IO. `get` is answered as the route `GET /messages/ID`; a `message` without an
//! acknowledgement is echoed; who emits `subscribe` is told what is published; every other event is acknowledged
//! with its own arguments.
//!
//! Knows events and their right answers. Must not know how they are framed.

use std::convert::Infallible;
use std::ops::ControlFlow;

use serde_json::Value;
use wiretrial_proto::socketio::{SocketIoEvent, SocketIoServer};
use wiretrial_proto::{ErrorClass, ProtocolError, Scratch, Step};

use super::Conversation;
use crate::content::append_json;
use crate::hub::{Broadcast, Member, Memberships, Notice};
use crate::sink::{Ending, Sink};

#[derive(Debug)]
pub(crate) struct SocketIoConversation {
    codec: SocketIoServer,
    /// Content of the answer to the last event.
    content: Vec<u8>,
    /// It is told what is published.
    has_joined: bool,
}

/// How an event is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Not at all.
    Ignore,
    /// The content acknowledges it, under this number.
    Acknowledge(u64),
    /// The content is an event.
    Emit,
    /// It is told what is published from now on.
    Join,
    /// The client closed the conversation, and the codec answered.
    Finish,
}

impl SocketIoConversation {
    /// A session with this number, behind its upgrade. The greeting goes out first.
    pub(crate) fn new(session: u64, max_message: u64, sink: &mut Sink<'_>) -> Self {
        let mut codec = SocketIoServer::new(session, max_message);
        codec.greet(sink.out);
        sink.settle();
        Self { codec, content: Vec::new(), has_joined: false }
    }
}

impl Conversation for SocketIoConversation {
    type Event<'a> = Action;
    type Upgrade = Infallible;

    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Action>, ProtocolError> {
        let Step { consumed, event } = self.codec.receive(input, scratch, out)?;
        let action = match event {
            None => None,
            Some(event) => Some(action(&event, &mut self.content)?),
        };
        Ok(Step { consumed, event: action })
    }

    fn on_event(
        &mut self,
        action: &mut Action,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> ControlFlow<Infallible> {
        match *action {
            Action::Ignore => {}
            Action::Join if self.has_joined => {}
            Action::Join => {
                member.join_broadcast();
                self.has_joined = true;
            }
            Action::Acknowledge(id) => {
                let mut reply = sink.begin();
                reply.alter(&mut self.content);
                self.codec.acknowledge(id, &self.content, sink.out);
                sink.end(reply);
            }
            Action::Emit => {
                let mut reply = sink.begin();
                reply.alter(&mut self.content);
                self.codec.emit(&self.content, sink.out);
                sink.end(reply);
            }
            Action::Finish => sink.finish(Ending::Orderly),
        }
        ControlFlow::Continue(())
    }

    fn on_error(&mut self, _start: usize, sink: &mut Sink<'_>) {
        self.codec.close(1002, sink.out);
    }

    fn on_notice(&mut self, notice: &Notice, sink: &mut Sink<'_>, _member: &mut Member<'_>) {
        let Notice::Broadcast(message) = notice else { return };
        let mut reply = sink.begin();
        let mut content = emitted(message);
        reply.alter(&mut content);
        self.codec.emit(&content, sink.out);
        sink.end(reply);
    }

    fn go_away(&mut self, out: &mut Vec<u8>) {
        self.codec.close(1001, out);
    }

    fn memberships(&self) -> Memberships {
        Memberships { broadcast: self.has_joined, ..Memberships::default() }
    }
}

/// The event that tells what was published: its name and its one argument.
fn emitted(message: &Broadcast) -> Vec<u8> {
    let mut content = String::from("[\"published\",");
    append_json(&String::from_utf8_lossy(&message.payload), &mut content);
    (content + "]").into_bytes()
}

/// How an event is answered; the content of that goes into `content`.
fn action(event: &SocketIoEvent<'_>, content: &mut Vec<u8>) -> Result<Action, ProtocolError> {
    content.clear();
    match *event {
        SocketIoEvent::Connected => Ok(Action::Ignore),
        SocketIoEvent::Close => Ok(Action::Finish),
        SocketIoEvent::Event { id: None, arguments: br#"["subscribe"]"# } => Ok(Action::Join),
        SocketIoEvent::Event { id: None, arguments } => {
            if !is_message(arguments) {
                return Ok(Action::Ignore);
            }
            content.extend_from_slice(arguments);
            Ok(Action::Emit)
        }
        SocketIoEvent::Event { id: Some(id), arguments } => match answer(arguments, content) {
            Some(()) => Ok(Action::Acknowledge(id)),
            None => Err(ProtocolError::new(ErrorClass::Protocol, "an event without a name")),
        },
    }
}

/// Is the event a message with one argument, which is echoed?
fn is_message(arguments: &[u8]) -> bool {
    serde_json::from_slice::<(&str, Value)>(arguments).is_ok_and(|(name, _)| name == "message")
}

/// Appends what acknowledges an event with this name and these arguments; none: they are not an array
/// with a name.
fn answer(arguments: &[u8], content: &mut Vec<u8>) -> Option<()> {
    // The usual request: strings without escapes, which need no parsing into values.
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
