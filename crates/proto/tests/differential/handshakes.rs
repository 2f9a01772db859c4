//! The opening handshake against `tungstenite`: who upgrades what, and each with the other.

use tungstenite::HandshakeError;
use tungstenite::handshake::server::{NoCallback, ServerHandshake};
use wiretrial_proto::http1::Http1Server;

use super::common::{Seen, run_server};
use super::frames::Wire;
use super::known;

/// Panics where one side upgrades and the other does not.
pub(crate) fn compare_upgrade(input: &[u8]) {
    let known = known::IN_UPGRADES.iter().any(|row| (row.applies)(input));
    assert!(known || !upgrade_differs(input), "{:?}", String::from_utf8_lossy(input));
}

pub(crate) fn upgrade_differs(input: &[u8]) -> bool {
    ours_upgrades(input) != theirs_upgrades(input)
}

fn ours_upgrades(input: &[u8]) -> bool {
    let seen = run_server(&mut Http1Server::new(), input, &[]).seen;
    matches!(seen.first(), Some(Seen::Request(request)) if request.websocket_key.is_some())
}

fn theirs_upgrades(input: &[u8]) -> bool {
    match ServerHandshake::start(Wire::new(input), NoCallback, None).handshake() {
        Ok(_) => true,
        Err(HandshakeError::Failure(_) | HandshakeError::Interrupted(_)) => false,
    }
}
