//! The routes of the contracts.
//!
//! Knows requests; must not know listeners, certificates or versions of HTTP.

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};

const MESSAGE: &str = r#"{"seq":"0000000000000000","text":"one message of 64 bytes....."}"#;
/// The largest message that is taken, in bytes.
const LARGEST: usize = 128 << 20;

pub(crate) fn routes() -> Router {
    Router::new()
        .route("/message", get(message))
        .route("/echo", post(echo))
        .layer(DefaultBodyLimit::max(LARGEST))
}

async fn message() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], MESSAGE)
}

async fn echo(body: Bytes) -> Bytes {
    body
}
