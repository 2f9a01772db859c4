//! The face: start, ask, stop.
//!
//! Knows threads; must not know what they do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use wiretrial_net::machine::{pin_current_thread, raise_descriptor_limit, set_timer_slack_min};
use wiretrial_net::{Driver, DriverConfig, PollerKind, Waker};

use crate::plan::{Endpoint, Kind, RespondError, ServerPlan};
use crate::shared::Shared;
use crate::stats::{Counters, Stats};
use crate::worker::Worker;

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    addresses: Addresses,
    threads: Vec<Thread>,
}

/// Where a server listens, with the ports that the kernel chose where 0 was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Addresses {
    /// HTTP/1.1 and WebSocket.
    pub http: Vec<SocketAddr>,
    /// The same over TLS.
    pub https: Vec<SocketAddr>,
    /// The raw echo.
    pub tcp: Vec<SocketAddr>,
    /// The same over TLS.
    pub tls: Vec<SocketAddr>,
    /// The table server.
    pub styx: Vec<SocketAddr>,
}

#[derive(Debug)]
struct Thread {
    waker: Waker,
    handle: JoinHandle<Result<(), RespondError>>,
}

/// Listens and serves, from when this returns.
///
/// # Errors
/// The plan has no address, no thread, or no certificate for TLS; an address cannot be listened
/// on; a certificate, a CPU or a thread cannot be had. Nothing is left running then.
pub fn start(plan: ServerPlan) -> Result<Server, RespondError> {
    let mut endpoints = plan.endpoints()?;
    raise_descriptor_limit();
    let shared = Arc::new(Shared::new(plan.script, plan.max_message, plan.deflate, plan.threads));
    let mut server = Server {
        shared: Arc::clone(&shared),
        addresses: Addresses::default(),
        threads: Vec::new(),
    };
    for index in 0..plan.threads as usize {
        let cpu = plan.cpus.get(index % plan.cpus.len().max(1)).copied();
        let (poller, own_descriptors) = (plan.poller, plan.own_descriptors);
        let work = Work { endpoints: endpoints.clone(), poller, own_descriptors, index, cpu };
        let (thread, addresses) = spawn(work, Arc::clone(&shared))?;
        server.threads.push(thread);
        // The first thread has the ports chosen, the others join it there.
        for (endpoint, address) in endpoints.iter_mut().zip(addresses) {
            endpoint.address = address;
        }
    }
    server.addresses = Addresses::of(&endpoints);
    Ok(server)
}

/// What one thread is to do.
struct Work {
    endpoints: Vec<Endpoint>,
    poller: PollerKind,
    own_descriptors: bool,
    index: usize,
    cpu: Option<u32>,
}

impl Server {
    /// Where it listens, in the plan's order.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// What it did so far.
    pub fn stats(&self) -> Stats {
        Counters::sum(self.shared.counters.iter())
    }

    /// Accepts nobody any more, gives answers that are under way up to a second to go out,
    /// closes all connections, and waits for the threads. Returns what it did in all.
    ///
    /// # Errors
    /// When a thread had ended before, and why.
    pub fn stop(mut self) -> Result<Stats, RespondError> {
        self.end()?;
        Ok(self.stats())
    }

    fn end(&mut self) -> Result<(), RespondError> {
        self.shared.stop();
        for thread in &self.threads {
            thread.waker.wake();
            thread.handle.thread().unpark();
        }
        let mut outcome = Ok(());
        for thread in self.threads.drain(..) {
            match thread.handle.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => outcome = Err(error),
                Err(_) => outcome = Err(RespondError::ThreadDied),
            }
        }
        outcome
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whoever wants to know how it ended calls `stop`.
        let _ = self.end();
    }
}

impl Addresses {
    fn of(endpoints: &[Endpoint]) -> Self {
        let mut addresses = Self::default();
        for endpoint in endpoints {
            let list = match endpoint.kind {
                Kind::Http => &mut addresses.http,
                Kind::Https => &mut addresses.https,
                Kind::Tcp => &mut addresses.tcp,
                Kind::Tls => &mut addresses.tls,
                Kind::Styx => &mut addresses.styx,
            };
            list.push(endpoint.address);
        }
        addresses
    }
}

/// Starts a thread and waits until it listens. The driver is made in its thread, because some
/// pollers belong to the thread that made them.
fn spawn(work: Work, shared: Arc<Shared>) -> Result<(Thread, Vec<SocketAddr>), RespondError> {
    let Work { endpoints, poller, own_descriptors, index, cpu } = work;
    let (report, reported) = mpsc::channel();
    let work = move || {
        let made = prepare(cpu)
            .and_then(|()| driver(poller, own_descriptors))
            .and_then(|driver| Worker::new(endpoints, driver, shared, index));
        let listening = made.as_ref().map(|worker| (worker.waker(), worker.addresses()));
        // The one that started this thread waits for it.
        let _ = report.send(listening.map_err(Clone::clone));
        made?.run()
    };
    let handle = thread::Builder::new()
        .name(format!("respond-{index}"))
        .spawn(work)
        .map_err(|error| RespondError::Thread(error.to_string()))?;
    let (waker, addresses) = reported.recv().map_err(|_| RespondError::ThreadDied)??;
    Ok((Thread { waker, handle }, addresses))
}

/// The poller of the calling thread. What it opens from here on may be its alone.
fn driver(poller: PollerKind, own_descriptors: bool) -> Result<Driver, RespondError> {
    let driver = Driver::new(&DriverConfig { poller, ..DriverConfig::default() })?;
    if own_descriptors {
        driver.own_descriptors()?;
    }
    Ok(driver)
}

/// Makes the calling thread one that serves.
fn prepare(cpu: Option<u32>) -> Result<(), RespondError> {
    pin_current_thread(cpu.as_slice())?;
    set_timer_slack_min();
    Ok(())
}
