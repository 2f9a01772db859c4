//! Socket.IO: events with acknowledgements, over Engine.IO version 4, over WebSocket.
//!
//! Knows the greeting, the default namespace, events, acknowledgements and the heartbeat. Must not
//! know sockets, clocks, or what the arguments of an event mean. Of the transports it has WebSocket
//! alone, from the start (`transport=websocket`), and of the packets those of text.
//!
//! A message is a digit of Engine.IO (`0` open, `1` close, `2` ping, `3` pong, `4` message, `6`
//! nothing); behind a `4`, a digit of Socket.IO (`0` connect, `1` disconnect, `2` event, `3`
//! acknowledgement, `4` refused); behind that the number of the acknowledgement, and an array of
//! JSON: `4217["get","messages","testing"]` is answered with `4317[null,{"id":"testing"}]`.

mod client;
mod head;
mod server;

pub use client::SocketIoClient;
pub use server::{SocketIoEvent, SocketIoServer};

/// Path and query of an upgrade where nothing else is asked for.
pub const TARGET: &str = "/socket.io/?EIO=4&transport=websocket";
