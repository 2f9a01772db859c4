//! What an entry of the ring is about, as the number that its completions
//! carry: 4 bits of operation, 28 of generation, 32 of index.

/// All bits of a generation.
pub(super) const GENERATIONS: u32 = 0x0fff_ffff;

/// What was asked of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Receive until told otherwise.
    Receive,
    /// Wait for the connect.
    Connect,
    /// Send what was staged.
    Send,
    /// End another operation.
    Cancel,
    /// Wait for the epoll set.
    Epoll,
}

/// An operation on one of the sockets that have had this index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) operation: Operation,
    pub(super) generation: u32,
    pub(super) index: u32,
}

const OPERATIONS: [Operation; 5] =
    [Operation::Receive, Operation::Connect, Operation::Send, Operation::Cancel, Operation::Epoll];

impl Token {
    pub(super) fn to_number(self) -> u64 {
        let generation = u64::from(self.generation & GENERATIONS);
        (self.operation as u64) << 60 | generation << 32 | u64::from(self.index)
    }

    pub(super) fn from_number(number: u64) -> Self {
        let operation = OPERATIONS[((number >> 60) as usize).min(OPERATIONS.len() - 1)];
        Self { operation, generation: (number >> 32) as u32 & GENERATIONS, index: number as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_its_number() {
        for operation in OPERATIONS {
            for (generation, index) in [(0, 0), (1, u32::MAX), (GENERATIONS, 7)] {
                let token = Token { operation, generation, index };
                assert_eq!(Token::from_number(token.to_number()), token);
            }
        }
    }
}
