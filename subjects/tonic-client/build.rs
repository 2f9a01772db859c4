//! Makes the messages and the client of the contract, as tonic's build crate does it.

use std::error::Error;

const SERVICE: &str = "shared/grpc-echo/echo.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SERVICE}");
    let described = protox::compile([SERVICE], ["shared/grpc-echo"])?;
    tonic_prost_build::configure().build_server(false).compile_fds(described)?;
    Ok(())
}
