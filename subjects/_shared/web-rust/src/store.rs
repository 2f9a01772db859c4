//! The tables, asked by tokio-postgres over a pool of deadpool.

use std::collections::HashMap;
use std::error::Error;

use deadpool_postgres::{Config, Object, Pool, PoolConfig, Runtime};
use futures_util::future::try_join_all;
use tokio::sync::OnceCell;
use tokio_postgres::NoTls;

use crate::{Fortune, Item, Login, Row, Token};

/// Whatever went wrong: the reply is 500.
pub type Failed = Box<dyn Error + Send + Sync>;

const ONE: &str = "SELECT id, number FROM world WHERE id = $1";
const CHANGE: &str = "UPDATE world SET number = $2 WHERE id = $1";
const LOGIN: &str = "SELECT id FROM account WHERE name = $1 \
     AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')";
const SESSION: &str = "INSERT INTO session (account) VALUES ($1) RETURNING token";
const ACCOUNT: &str = "SELECT account FROM session WHERE token = $1";
const ITEMS: &str = "SELECT id, text FROM item WHERE account = $1 ORDER BY id DESC LIMIT 20";
const ADD: &str = "INSERT INTO item (account, text) VALUES ($1, $2) RETURNING id";

/// A pool of connections. Its methods are the contract's, row by row.
pub struct Store {
    pool: Pool,
    cached: OnceCell<HashMap<i32, Row>>,
}

impl Store {
    /// Of the database that the environment names.
    pub fn open() -> Result<Self, Failed> {
        let size = std::env::var("DATABASE_POOL")?.parse()?;
        let config = Config {
            url: Some(std::env::var("DATABASE_URL")?),
            pool: Some(PoolConfig::new(size)),
            ..Config::default()
        };
        let pool = config.create_pool(Some(Runtime::Tokio1), NoTls)?;
        Ok(Self { pool, cached: OnceCell::new() })
    }

    /// A row of `world`.
    pub async fn row(&self, id: i32) -> Result<Row, Failed> {
        one(&self.pool.get().await?, id).await
    }

    /// Rows of `world`, each by a statement of its own, in one pipeline.
    pub async fn rows(&self, ids: &[i32]) -> Result<Vec<Row>, Failed> {
        let client = self.pool.get().await?;
        try_join_all(ids.iter().map(|id| one(&client, *id))).await
    }

    /// Reads each row, and gives it its new number, in one pipeline.
    pub async fn change(&self, changes: &[Row]) -> Result<(), Failed> {
        let client = self.pool.get().await?;
        try_join_all(changes.iter().map(|row| one(&client, row.id))).await?;
        let change = client.prepare_cached(CHANGE).await?;
        try_join_all(changes.iter().map(async |row| {
            client.execute(&change, &[&row.id, &row.number]).await
        }))
        .await?;
        Ok(())
    }

    /// Rows of `cached_world`, which are read once.
    pub async fn cached(&self, ids: &[i32]) -> Result<Vec<Row>, Failed> {
        let all = self.cached.get_or_try_init(|| self.all_cached()).await?;
        Ok(ids.iter().map(|id| all[id]).collect())
    }

    async fn all_cached(&self) -> Result<HashMap<i32, Row>, Failed> {
        let client = self.pool.get().await?;
        let found = client.query("SELECT id, number FROM cached_world", &[]).await?;
        let rows = found.iter().map(|row| Row { id: row.get(0), number: row.get(1) });
        Ok(rows.map(|row| (row.id, row)).collect())
    }

    /// The table `fortune`.
    pub async fn fortunes(&self) -> Result<Vec<Fortune>, Failed> {
        let client = self.pool.get().await?;
        let statement = client.prepare_cached("SELECT id, message FROM fortune").await?;
        let found = client.query(&statement, &[]).await?;
        Ok(found.iter().map(|row| Fortune { id: row.get(0), message: row.get(1) }).collect())
    }

    /// A new token; none where name and password do not fit.
    pub async fn login(&self, said: &Login) -> Result<Option<Token>, Failed> {
        let client = self.pool.get().await?;
        let login = client.prepare_cached(LOGIN).await?;
        let Some(found) = client.query_opt(&login, &[&said.name, &said.password]).await? else {
            return Ok(None);
        };
        let session = client.prepare_cached(SESSION).await?;
        let made = client.query_one(&session, &[&found.get::<_, i32>(0)]).await?;
        Ok(Some(Token { token: made.get(0) }))
    }

    /// Whose token it is; none: nobody's.
    pub async fn account(&self, token: &str) -> Result<Option<i32>, Failed> {
        let client = self.pool.get().await?;
        let account = client.prepare_cached(ACCOUNT).await?;
        Ok(client.query_opt(&account, &[&token]).await?.map(|row| row.get(0)))
    }

    /// The newest items of an account.
    pub async fn items(&self, account: i32) -> Result<Vec<Item>, Failed> {
        let client = self.pool.get().await?;
        let items = client.prepare_cached(ITEMS).await?;
        let found = client.query(&items, &[&account]).await?;
        Ok(found.iter().map(|row| Item { id: row.get(0), text: row.get(1) }).collect())
    }

    /// A new item of an account.
    pub async fn add(&self, account: i32, text: String) -> Result<Item, Failed> {
        let client = self.pool.get().await?;
        let add = client.prepare_cached(ADD).await?;
        let id = client.query_one(&add, &[&account, &text]).await?.get(0);
        Ok(Item { id, text })
    }
}

async fn one(client: &Object, id: i32) -> Result<Row, Failed> {
    let statement = client.prepare_cached(ONE).await?;
    let row = client.query_one(&statement, &[&id]).await?;
    Ok(Row { id: row.get(0), number: row.get(1) })
}
