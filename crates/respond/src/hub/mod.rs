//! How connections of one server reach each other: tables of players, a broadcast, the lobby.
//!
//! Knows connections by their keys, their threads and what they joined. Must not know how a notice
//! is encoded, nor sockets.
//!
//! One [`Hub`] serves all threads. A [`Dispatcher`] holds what one thread has to deliver. A
//! [`Member`] is both of them as one connection uses them.

mod alarms;
mod directory;
mod dispatcher;
mod history;
mod lobby;
mod mailbox;
mod member;
mod notice;

pub(crate) use dispatcher::{Dispatcher, Hub};
pub(crate) use member::{Member, Memberships};
pub(crate) use notice::{Broadcast, Notice};
