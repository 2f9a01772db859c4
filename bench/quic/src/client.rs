//! What both clients can do. Knows datagrams; must not know the libraries.

use bytes::BytesMut;

use crate::Failure;

/// A client of one connection.
pub(crate) trait Client {
    /// Whether requests can go.
    fn is_connected(&self) -> bool;
    /// A request on a stream of its own.
    fn ask(&mut self, request: &[u8]) -> Result<(), Failure>;
    /// The datagrams that are to be sent now.
    fn sent(&mut self) -> Result<Vec<BytesMut>, Failure>;
    /// Datagrams that came.
    fn take(&mut self, datagrams: Vec<BytesMut>) -> Result<(), Failure>;
    /// How many replies have ended since the last call; one of another length than `length` is an error.
    fn replies(&mut self, length: usize) -> Result<usize, Failure>;
}
