//! What users do, taped step by step, where somebody wants to see it.
//!
//! Knows which of it goes onto the tape. Must not know what is done with it.

use std::collections::BTreeMap;

use super::Users;
use crate::clock::Nanos;
use crate::exchange::{Begun, Tape};
use crate::executor::Session;
use crate::measure::Class;

impl Users {
    /// From now on each step is told of. No two users may have a step on its way at once.
    pub(crate) fn tape_onto(&mut self, tape: Tape) {
        self.tape = Some(Box::new(tape));
    }

    pub(crate) fn tape(&mut self) -> Option<&mut Tape> {
        self.tape.as_deref_mut()
    }

    /// A step begins.
    pub(super) fn tape_step(&mut self, index: u32, at: &Session) {
        let deed = self.deed(index);
        let Some(tape) = &mut self.tape else { return };
        let flow = &self.common.traffic.flows[at.flow];
        tape.begin(Begun {
            flow: &flow.name,
            route: &self.common.routes.get(flow.steps[at.step].route).name,
            connection: index,
            at: (at.step, at.round),
            deed,
        });
    }

    /// The user's step is over; what it captured is a right reply's.
    pub(super) fn tape_over(
        &mut self,
        index: u32,
        told: Result<(), (Class, &str)>,
        service: Option<Nanos>,
    ) {
        let Some(tape) = &mut self.tape else { return };
        let user = &self.all[index as usize];
        let traffic = &self.common.traffic;
        let captured = traffic.routes[user.route].captures.iter().map(|capture| {
            let text = String::from_utf8_lossy(user.values.get(capture.value)).into_owned();
            (traffic.values[capture.value].clone(), text)
        });
        tape.over(told.map(|()| captured.collect::<BTreeMap<_, _>>()), service);
    }
}
