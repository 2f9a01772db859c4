<?php
// What the contract `web` says of rows, counts and the page, for every PHP framework.

namespace Wiretrial;

final class Contract
{
    public const GREETING = 'Hello, World!';

    private const ROWS = 10000;
    private const STEP = 7919;
    private const MOST = 100;
    private const ADDED = ['id' => 0, 'message' => 'One more fortune, made while you wait.'];

    /** The rows that a request's query is for. */
    public static function ids(array $query): array
    {
        return self::chain((int) $query['id'], self::clamped($query['count'] ?? ''));
    }

    /** The rows that it changes, each with its new number. */
    public static function changes(array $query): array
    {
        $ids = self::ids($query);

        return array_combine($ids, self::chain((int) $query['number'], count($ids)));
    }

    /** What a reply says of rows, whose numbers are given by their ids. */
    public static function rows(array $numbers): array
    {
        $rows = [];
        foreach ($numbers as $id => $number) {
            $rows[] = ['id' => $id, 'number' => $number];
        }

        return $rows;
    }

    /** The rows of the page in their order. Bytes of UTF-8 sort as code points do. */
    public static function fortunes(array $found): array
    {
        $found[] = self::ADDED;
        usort($found, fn (array $one, array $other) => strcmp($one['message'], $other['message']));

        return $found;
    }

    private static function clamped(string $count): int
    {
        return min(max((int) filter_var($count, FILTER_VALIDATE_INT), 1), self::MOST);
    }

    private static function chain(int $first, int $count): array
    {
        return array_map(
            fn (int $place) => ($first - 1 + $place * self::STEP) % self::ROWS + 1,
            range(0, $count - 1),
        );
    }
}
