<?php
// The tables of the contract `web`, asked by Laravel's query builder. Rows are numbers by their ids.

namespace App;

use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\DB;

final class Store
{
    /** Rows of `world`, each by a statement of its own. */
    public function rows(array $ids): array
    {
        $rows = [];
        foreach ($ids as $id) {
            $rows[$id] = DB::table('world')->where('id', $id)->value('number');
        }

        return $rows;
    }

    /** Reads each row, and gives it its new number. */
    public function change(array $changes): void
    {
        DB::transaction(function () use ($changes): void {
            $this->rows(array_keys($changes));
            foreach ($changes as $id => $number) {
                DB::table('world')->where('id', $id)->update(['number' => $number]);
            }
        });
    }

    /** Rows of `cached_world`, which are read once. */
    public function cached(array $ids): array
    {
        $kept = Cache::many($ids);
        if (in_array(null, $kept, true)) {
            Cache::putMany(DB::table('cached_world')->pluck('number', 'id')->all());
            $kept = Cache::many($ids);
        }

        return $kept;
    }

    /** The table `fortune`. */
    public function fortunes(): array
    {
        return DB::table('fortune')->get(['id', 'message'])->map(fn (object $row) => (array) $row)->all();
    }

    /** A new token; null where name and password do not fit. */
    public function login(string $name, string $password): ?string
    {
        $account = DB::table('account')
            ->where('name', $name)
            ->whereRaw("digest = encode(sha256(convert_to(?, 'UTF8')), 'hex')", [$password])
            ->value('id');

        return $account === null ? null : DB::table('session')->insertGetId(['account' => $account], 'token');
    }

    /** Whose token it is; null: nobody's. */
    public function account(string $token): ?int
    {
        return DB::table('session')->where('token', $token)->value('account');
    }

    /** The newest items of an account. */
    public function items(int $account): array
    {
        return DB::table('item')->where('account', $account)->orderByDesc('id')->limit(20)->get(['id', 'text'])->all();
    }

    /** A new item of an account. */
    public function add(int $account, string $text): array
    {
        return ['id' => DB::table('item')->insertGetId(['account' => $account, 'text' => $text]), 'text' => $text];
    }
}
