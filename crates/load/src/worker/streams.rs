//! Streams of events: when their places are free again, and which have told nothing for too long. Of who publishes: which
//! events were not confirmed.
//!
//! Knows instants and connections. Must not know what a stream tells.

use std::sync::Arc;

use wiretrial_net::Key;

use super::Worker;
use crate::clock::Nanos;
use crate::connection::{Ending, SILENT};
use crate::machine::Machine;
use crate::measure::Class;
use crate::plan::{LoopPlan, PayloadPlan, Scheme};
use crate::preflight::Setup;
use crate::source::{Form, Payloads, Publication, Streams};

/// What messages of a plan carry, and the streams that they ask for, or when those of a call go.
pub(super) fn payloads<M: Machine>(setup: &Setup, clock: &M) -> Payloads {
    let target = &setup.plan.target;
    let payloads = Payloads::of(target);
    if let Some(pace) = target.grpc.and_then(|calls| calls.pace) {
        return payloads.talking(pace);
    }
    if let PayloadPlan::Event(_) = target.payload {
        let payloads = payloads.stamped_from(clock.identity().1);
        return match &setup.reach {
            Some(reach) => payloads.confirmed_to(Arc::clone(reach)),
            None => payloads,
        };
    }
    if !setup.plan.hears_events() {
        return payloads;
    }
    let (name, origin) = clock.identity();
    let mut streams = Streams::new(&name, origin);
    if let (Some(publish), Some(reach)) = (&setup.plan.publish, &setup.reach) {
        let (size, reach) = (publish.size(), Arc::clone(reach));
        streams = streams.telling(Publication { size, reach });
    }
    payloads.asking_for(match target.url.scheme {
        Scheme::Http if target.sse => streams,
        Scheme::Http if target.url.grpc => streams.told_as(Form::Calls),
        Scheme::Http => streams.told_as(Form::Polls),
        Scheme::SocketIo => streams.told_as(Form::Emitted),
        _ => streams.told_as(Form::Messages),
    })
}

impl<M: Machine> Worker<M> {
    /// So many places of a connection are free: at once, or, of streams that have ended, after a while.
    pub(super) fn free(&mut self, index: u32, places: u32) {
        match self.payloads.streams() {
            None => self.slots.release(index, places),
            Some(streams) => streams.rest(index, places),
        }
    }

    /// Places that have rested are free.
    pub(super) fn free_rested(&mut self, now: Nanos) {
        let Some(streams) = self.payloads.streams() else { return };
        while let Some((index, places)) = streams.take_rested(now) {
            self.slots.release(index, places);
        }
    }

    /// When the next ones have rested.
    pub(super) fn next_rested(&mut self) -> Nanos {
        let streams = self.payloads.streams().as_ref();
        streams.and_then(|streams| streams.next_due()).unwrap_or(Nanos::MAX)
    }

    /// All streams of a connection end with it.
    pub(super) fn part_streams(&mut self, index: u32, now: Nanos) {
        let Some(streams) = self.payloads.streams() else { return };
        let ledger = &self.connections[index as usize].ledger;
        ledger.for_each(|pending| streams.part(pending.number, now));
    }

    /// What is in flight on a connection fails with it.
    pub(super) fn in_flight_failed(&self, index: u32) {
        let ledger = &self.connections[index as usize].ledger;
        ledger.for_each(|pending| self.payloads.failed(pending.number));
    }

    /// The worker is done: what is in flight is never answered.
    pub(crate) fn leave_in_flight(&self) {
        (0..self.share.connections).for_each(|index| self.in_flight_failed(index));
    }

    /// Fails the streams of a connection that have told nothing for too long. An ending: the connection
    /// has to be given up.
    pub(super) fn sweep_streams(&mut self, index: u32, now: Nanos) -> Option<Ending> {
        let plan = &self.setup.plan;
        let are_held = matches!(plan.load.loop_, LoopPlan::Hold { .. });
        let timeout = plan.phases.timeout;
        let streams = self.payloads.streams().as_ref()?;
        let connection = &mut self.connections[index as usize];
        let silent = connection.silent_streams(streams, now, timeout, are_held);
        if silent.is_empty() {
            return None;
        }
        let mut given_up = 0;
        for number in silent {
            let (payloads, recorder) = (&mut self.payloads, &mut self.recorder);
            if !connection.give_up_stream(number, now, payloads, recorder) {
                self.done(index, given_up);
                return Some(Ending::Failed(Class::Timeout, SILENT.to_owned()));
            }
            given_up += 1;
        }
        self.done(index, given_up);
        let generation = self.connections[index as usize].generation;
        self.go_on(Key { slot: index, generation }, None, now);
        None
    }
}
