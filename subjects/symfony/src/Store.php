<?php
// The tables of the contract `web`, asked by Doctrine DBAL. Rows are numbers by their ids.

namespace App;

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Tools\DsnParser;
use Psr\Cache\CacheItemPoolInterface;

final class Store
{
    private const ONE = 'SELECT number FROM world WHERE id = ?';

    public function __construct(private Connection $connection, private CacheItemPoolInterface $cache)
    {
    }

    /** The connection of a child, made at its first statement: for a request, or kept for others. */
    public static function connect(string $url, bool $persistent): Connection
    {
        $said = (new DsnParser(['postgresql' => 'pdo_pgsql']))->parse($url);

        return DriverManager::getConnection($said + [
            'persistent' => $persistent,
            // Statements are prepared: DBAL would not, unless it is told.
            'driverOptions' => [\PDO::PGSQL_ATTR_DISABLE_PREPARES => false],
        ]);
    }

    /** Rows of `world`, each by an execution of its own. */
    public function rows(array $ids): array
    {
        $one = $this->connection->prepare(self::ONE);
        $rows = [];
        foreach ($ids as $id) {
            $one->bindValue(1, $id);
            $rows[$id] = $one->executeQuery()->fetchOne();
        }

        return $rows;
    }

    /** Reads each row, and gives it its new number. */
    public function change(array $changes): void
    {
        $this->connection->transactional(function () use ($changes): void {
            $this->rows(array_keys($changes));
            $change = $this->connection->prepare('UPDATE world SET number = ? WHERE id = ?');
            foreach ($changes as $id => $number) {
                $change->bindValue(1, $number);
                $change->bindValue(2, $id);
                $change->executeStatement();
            }
        });
    }

    /** Rows of `cached_world`, which are read once. */
    public function cached(array $ids): array
    {
        $kept = $this->kept($ids);
        if (\in_array(null, $kept, true)) {
            $this->keep();
            $kept = $this->kept($ids);
        }

        return $kept;
    }

    /** The table `fortune`. */
    public function fortunes(): array
    {
        return $this->connection->fetchAllAssociative('SELECT id, message FROM fortune');
    }

    /** A new token; null where name and password do not fit. */
    public function login(string $name, string $password): ?string
    {
        $account = $this->connection->fetchOne(
            'SELECT id FROM account WHERE name = ?'
            ." AND digest = encode(sha256(convert_to(?, 'UTF8')), 'hex')",
            [$name, $password],
        );
        if ($account === false) {
            return null;
        }

        return $this->connection->fetchOne('INSERT INTO session (account) VALUES (?) RETURNING token', [$account]);
    }

    /** Whose token it is; null: nobody's. */
    public function account(string $token): ?int
    {
        $found = $this->connection->fetchOne('SELECT account FROM session WHERE token = ?', [$token]);

        return $found === false ? null : $found;
    }

    /** The newest items of an account. */
    public function items(int $account): array
    {
        return $this->connection->fetchAllAssociative(
            'SELECT id, text FROM item WHERE account = ? ORDER BY id DESC LIMIT 20',
            [$account],
        );
    }

    /** A new item of an account. */
    public function add(int $account, string $text): array
    {
        $added = 'INSERT INTO item (account, text) VALUES (?, ?) RETURNING id';

        return ['id' => $this->connection->fetchOne($added, [$account, $text]), 'text' => $text];
    }

    /** What the cache has of rows of `cached_world`: null of those that it has not. */
    private function kept(array $ids): array
    {
        $kept = [];
        foreach ($ids as $id) {
            $kept["cached_world.$id"] = null;
        }
        foreach ($this->cache->getItems(array_keys($kept)) as $key => $item) {
            $kept[$key] = $item->get();
        }

        return array_combine($ids, $kept);
    }

    private function keep(): void
    {
        foreach ($this->connection->fetchAllKeyValue('SELECT id, number FROM cached_world') as $id => $number) {
            $this->cache->saveDeferred($this->cache->getItem("cached_world.$id")->set($number));
        }
        $this->cache->commit();
    }
}
