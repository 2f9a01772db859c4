//! Accepts connections for ever, and gives each a task of its own.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// Where nobody can be accepted, as without a free descriptor, it is tried again after this.
const PAUSE: Duration = Duration::from_millis(10);

/// Talks to everybody who comes. Whatever ends one connection concerns nobody else.
pub(crate) async fn each<Talk, Told>(listener: TcpListener, talk: Talk)
where
    Talk: Fn(TcpStream) -> Told,
    Told: Future<Output = io::Result<()>> + Send + 'static,
{
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(talk(stream));
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}
