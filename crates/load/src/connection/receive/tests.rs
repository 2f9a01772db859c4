//! What comes of events, one at a time.

use wiretrial_proto::ErrorClass;

use super::*;
use crate::clock::Nanos;
use crate::connection::{Buffers, Nobody};
use crate::plan::PayloadPlan;
use crate::source::{Payloads, Verifier};

#[test]
fn a_peer_that_refuses_a_message_is_there() {
    let mut connection = Connection::new(true);
    connection.ledger.push_sent(0, 1, Nanos::ZERO, Nanos(1));
    connection.ledger.push_sent(1, 1, Nanos::ZERO, Nanos(2));
    let (mut received, mut recorder) = (Received::default(), Recorder::default());
    let error = ProtocolError::new(ErrorClass::TooBig, "refused");
    let verifier = Verifier::Any;
    let (mut payloads, mut buffers) = (Payloads::new(&PayloadPlan::None), Buffers::default());
    let mut expected = Expected {
        witness: Nobody,
        verifier: &verifier,
        status: None,
        kind: None,
        open_loop: false,
        payloads: &mut payloads,
        recorder: &mut recorder,
        buffers: &mut buffers,
        deliveries: None,
        calls: None,
    };
    connection.failed(Tag::Number(1), &error, &mut received, &mut expected);
    let Ledger::Numbered(ledger) = &connection.ledger else { panic!("it is numbered") };
    assert!(ledger.len() == 1 && ledger.has_answered_since(Nanos(2)));
    assert!(received.done == 1 && received.ending.is_none());
}
