//! Each row of the table of faults (`docs/faults.md`): the load generator against servers that do
//! wrong as a script says. What must hold of every one: the fault has its class, the sums are
//! right, the other connections go on, and the run ends when it should.

mod asked;
#[path = "../common/binary.rs"]
mod binary;
#[path = "../common/certificates.rs"]
mod certificates;
mod chaos;
mod child;
mod connections;
mod early;
mod endings;
#[path = "../common/exchanges.rs"]
mod exchanges;
mod gone;
mod greetings;
mod http;
mod http2;
mod http2_websockets;
mod machine;
#[path = "../common/outcome.rs"]
mod outcome;
mod process;
#[path = "../common/rig.rs"]
mod rig;
mod scene;
mod scripted;
mod soak;
mod speech;
mod start;
mod table;
mod websocket;
mod wire;
