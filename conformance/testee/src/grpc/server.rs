//! The reference server with the suite's service, for as long as the suite wants it.
//!
//! Knows how it is started; must not know what it answers.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use wiretrial_respond::{ServerPlan, start};

use super::messages::{Credentials, ServerRequest, ServerResponse};
use super::service::Conformance;
use super::{read, write};
use crate::line::Failed;

/// How often is looked whether the suite is still there.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Serves as the suite says, until the suite ends it.
pub(crate) fn serve() -> Result<(), Failed> {
    let Some(wanted) = read::<ServerRequest>(&mut io::stdin().lock())? else { return Ok(()) };
    let anywhere = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let service = Arc::new(Conformance { limit: wanted.message_receive_limit });
    let mut plan = ServerPlan { http2: true, service: Some(service), ..ServerPlan::default() };
    let folder = TempDir::new().map_err(Failed::Suite)?;
    let mut pem_cert = Vec::new();
    if wanted.use_tls {
        let Credentials { cert, key } = wanted.server_creds.unwrap_or_default();
        let file = |name: &str, pem: &[u8]| -> io::Result<PathBuf> {
            let path = folder.path().join(name);
            fs::write(&path, pem).map(|()| path)
        };
        plan.cert = Some(file("cert.pem", &cert).map_err(Failed::Suite)?);
        plan.key = Some(file("key.pem", &key).map_err(Failed::Suite)?);
        (plan.https, pem_cert) = (anywhere, cert);
    } else {
        plan.http = anywhere;
    }
    let server = start(plan)?;
    // They have been read; a signal, which ends this, would leave them.
    folder.close().map_err(Failed::Suite)?;
    let addresses = server.addresses();
    let port = addresses.http.iter().chain(&addresses.https).map(SocketAddr::port).next();
    let (host, port) = (Ipv4Addr::LOCALHOST.to_string(), u32::from(port.unwrap_or_default()));
    write(&ServerResponse { host, port, pem_cert }, &mut io::stdout().lock())?;
    // The suite ends it by a signal. Should it be gone itself, there is nobody to do so.
    let suite = parent_id();
    while parent_id() == suite {
        thread::park_timeout(LOOK_EVERY);
    }
    server.stop()?;
    Ok(())
}
