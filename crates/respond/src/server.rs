//! A running server: how it starts, reports and stops.
//!
//! Knows threads. Must not know what they do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use wiretrial_net::machine::{pin_current_thread, raise_descriptor_limit, set_timer_slack_min};
use wiretrial_net::{Driver, DriverConfig, PollerKind, Waker};

use crate::plan::{Endpoint, EndpointKind, RespondError, ServerPlan};
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

/// Where a server listens. Port 0 is replaced by the port that the kernel chose.
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

/// Starts a server. It listens when this returns.
///
/// # Errors
/// The plan has no address, no thread, or no certificate for TLS; an address cannot be listened on;
/// a certificate cannot be read, a CPU cannot be used, or a thread cannot be started. No thread is
/// left running then.
pub fn start(plan: ServerPlan) -> Result<Server, RespondError> {
    let mut endpoints = plan.endpoints()?;
    raise_descriptor_limit();
    let ServerPlan { script, max_message, deflate, service, threads, .. } = plan;
    let shared = Arc::new(Shared::new(script, max_message, deflate, service, threads));
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
        // The kernel chooses ports for the first thread; the others listen on the same ones.
        for (endpoint, address) in endpoints.iter_mut().zip(addresses) {
            endpoint.address = address;
        }
    }
    server.addresses = Addresses::of(&endpoints);
    Ok(server)
}

/// The settings of one thread.
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

    /// The counts so far.
    pub fn stats(&self) -> Stats {
        Counters::sum(self.shared.counters.iter())
    }

    /// Accepts no more connections, waits up to a second for answers under way, closes all
    /// connections, and joins the threads. Returns the final counts.
    ///
    /// # Errors
    /// A thread had ended before; the error says why.
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
        // `stop` returns the error for callers that need it.
        let _ = self.end();
    }
}

impl Addresses {
    fn of(endpoints: &[Endpoint]) -> Self {
        let mut addresses = Self::default();
        for endpoint in endpoints {
            let list = match endpoint.kind {
                EndpointKind::Http => &mut addresses.http,
                EndpointKind::Https => &mut addresses.https,
                EndpointKind::Tcp => &mut addresses.tcp,
                EndpointKind::Tls => &mut addresses.tls,
                EndpointKind::Styx => &mut addresses.styx,
            };
            list.push(endpoint.address);
        }
        addresses
    }
}

/// Starts a thread and waits until it listens. The thread itself creates its driver, because some
/// pollers belong to the thread that created them.
fn spawn(work: Work, shared: Arc<Shared>) -> Result<(Thread, Vec<SocketAddr>), RespondError> {
    let Work { endpoints, poller, own_descriptors, index, cpu } = work;
    let (report, reported) = mpsc::channel();
    let work = move || {
        let made = prepare(cpu)
            .and_then(|()| driver(poller, own_descriptors))
            .and_then(|driver| Worker::new(endpoints, driver, shared, index));
        let listening = made.as_ref().map(|worker| (worker.waker(), worker.addresses()));
        // The thread that started this one waits for the report, so it cannot fail.
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

/// Creates the driver of the calling thread, with a descriptor table of its own if asked.
fn driver(poller: PollerKind, own_descriptors: bool) -> Result<Driver, RespondError> {
    let driver = Driver::new(&DriverConfig { poller, ..DriverConfig::default() })?;
    if own_descriptors {
        driver.own_descriptors()?;
    }
    Ok(driver)
}

/// Sets the CPU and the timers of the calling thread.
fn prepare(cpu: Option<u32>) -> Result<(), RespondError> {
    pin_current_thread(cpu.as_slice())?;
    set_timer_slack_min();
    Ok(())
}
