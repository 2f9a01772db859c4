// Package web has what the contract `web` says of rows, and its tables asked by pgx: the same for
// every Go framework.
package web

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"html/template"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	rows     = 10_000
	step     = 7919
	most     = 100
	Greeting = "Hello, World!"
	HTML     = "text/html; charset=utf-8"
	JSON     = "application/json"

	one    = "SELECT id, number FROM world WHERE id = $1"
	change = "UPDATE world SET number = $2 WHERE id = $1"
	login  = "SELECT id FROM account WHERE name = $1" +
		" AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')"
)

// Message is the reply of /json.
type Message struct {
	Message string `json:"message"`
}

// Row is a row of `world` or `cached_world`.
type Row struct {
	ID     int `json:"id"`
	Number int `json:"number"`
}

// Fortune is a row of the page.
type Fortune struct {
	ID      int
	Message string
}

// Login is what comes to /login.
type Login struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// Token is what /login answers.
type Token struct {
	Token string `json:"token"`
}

// Item is an item of an account; a new one has no ID yet.
type Item struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

// Nothing is the body of a refusal.
type Nothing struct{}

// Page is the template of /fortunes.
var Page = template.Must(template.New("fortunes").Parse(`<!DOCTYPE html>
<html>
<head><title>Fortunes</title></head>
<body>
<table>
<tr><th>id</th><th>message</th></tr>
{{range .}}<tr><td>{{.ID}}</td><td>{{.Message}}</td></tr>
{{end}}</table>
</body>
</html>
`))

// Chain is the ids, or the new numbers, of a request for count rows from first on.
func Chain(first, count int) []int {
	found := make([]int, count)
	for place := range found {
		found[place] = (first-1+place*step)%rows + 1
	}
	return found
}

// Clamped is the number of rows that a request with this count is for.
func Clamped(count string) int {
	number, err := strconv.Atoi(count)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 1
	}
	return min(max(number, 1), most)
}

// Changes are the rows that a request changes, each with its new number.
func Changes(id, count, number string) []Row {
	wanted := Clamped(count)
	ids, numbers := Chain(Number(id), wanted), Chain(Number(number), wanted)
	found := make([]Row, wanted)
	for place := range found {
		found[place] = Row{ids[place], numbers[place]}
	}
	return found
}

// Number reads what is always a number.
func Number(text string) int {
	found, _ := strconv.Atoi(text)
	return found
}

// Bearer is the token of an Authorization field; empty where there is none.
func Bearer(field string) string {
	return strings.TrimPrefix(field, "Bearer ")
}

// Render writes the page.
func Render(to io.Writer, found []Fortune) error {
	return Page.Execute(to, found)
}

// Store is the tables.
type Store struct {
	pool    *pgxpool.Pool
	reading sync.Mutex
	cached  atomic.Pointer[map[int]int]
}

// Open connects to the database that the environment names, with all its connections.
func Open(ctx context.Context) (*Store, error) {
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(Number(os.Getenv("DATABASE_POOL")))
	config.MinConns = config.MaxConns
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool}, pool.Ping(ctx)
}

// Row is a row of `world`.
func (s *Store) Row(ctx context.Context, id int) (Row, error) {
	var found Row
	err := s.pool.QueryRow(ctx, one, id).Scan(&found.ID, &found.Number)
	return found, err
}

// Rows are rows of `world`, each by a statement of its own, on one connection.
func (s *Store) Rows(ctx context.Context, ids []int) ([]Row, error) {
	connection, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Release()
	found := make([]Row, len(ids))
	for place, id := range ids {
		row := &found[place]
		if err := connection.QueryRow(ctx, one, id).Scan(&row.ID, &row.Number); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Change reads each row, and gives it its new number: all of them in one batch.
func (s *Store) Change(ctx context.Context, changes []Row) error {
	ids := make([]int, len(changes))
	for place, row := range changes {
		ids[place] = row.ID
	}
	if _, err := s.Rows(ctx, ids); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, row := range changes {
		batch.Queue(change, row.ID, row.Number)
	}
	return s.pool.SendBatch(ctx, batch).Close()
}

// Cached are rows of `cached_world`, which are read once.
func (s *Store) Cached(ctx context.Context, ids []int) ([]Row, error) {
	all, err := s.kept(ctx)
	if err != nil {
		return nil, err
	}
	told := make([]Row, len(ids))
	for place, id := range ids {
		told[place] = Row{id, all[id]}
	}
	return told, nil
}

// kept is all of `cached_world`. One request reads it while others wait; where it fails, the next
// one reads it.
func (s *Store) kept(ctx context.Context) (map[int]int, error) {
	if known := s.cached.Load(); known != nil {
		return *known, nil
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	if known := s.cached.Load(); known != nil {
		return *known, nil
	}
	found, err := s.pool.Query(ctx, "SELECT id, number FROM cached_world")
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[Row])
	if err != nil {
		return nil, err
	}
	known := make(map[int]int, len(all))
	for _, row := range all {
		known[row.ID] = row.Number
	}
	s.cached.Store(&known)
	return known, nil
}

// Fortunes are the rows of the page in their order.
func (s *Store) Fortunes(ctx context.Context) ([]Fortune, error) {
	found, err := s.pool.Query(ctx, "SELECT id, message FROM fortune")
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[Fortune])
	all = append(all, Fortune{0, "One more fortune, made while you wait."})
	slices.SortFunc(all, func(a, b Fortune) int { return cmp.Compare(a.Message, b.Message) })
	return all, err
}

// Login gives a new token; false where name and password do not fit.
func (s *Store) Login(ctx context.Context, said Login) (Token, bool, error) {
	var account int
	err := s.pool.QueryRow(ctx, login, said.Name, said.Password).Scan(&account)
	if errors.Is(err, pgx.ErrNoRows) {
		return Token{}, false, nil
	}
	if err != nil {
		return Token{}, false, err
	}
	var made Token
	err = s.pool.QueryRow(ctx, "INSERT INTO session (account) VALUES ($1) RETURNING token", account).
		Scan(&made.Token)
	return made, err == nil, err
}

// Account is whose token it is; false: nobody's.
func (s *Store) Account(ctx context.Context, token string) (int, bool, error) {
	var account int
	err := s.pool.QueryRow(ctx, "SELECT account FROM session WHERE token = $1", token).Scan(&account)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return account, err == nil, err
}

// Items are the newest items of an account.
func (s *Store) Items(ctx context.Context, account int) ([]Item, error) {
	const listed = "SELECT id, text FROM item WHERE account = $1 ORDER BY id DESC LIMIT 20"
	found, err := s.pool.Query(ctx, listed, account)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[Item])
}

// Add makes a new item of an account.
func (s *Store) Add(ctx context.Context, account int, said Item) (Item, error) {
	const added = "INSERT INTO item (account, text) VALUES ($1, $2) RETURNING id"
	err := s.pool.QueryRow(ctx, added, account, said.Text).Scan(&said.ID)
	return said, err
}

// Options are what the command line says.
type Options struct {
	Address string
	Tuned   bool
}

// Flags reads the command line; with --version it prints that of a module, and ends.
func Flags(module string) Options {
	var told Options
	version := flag.Bool("version", false, "print the version")
	flag.StringVar(&told.Address, "address", "", "HOST:PORT")
	flag.BoolVar(&told.Tuned, "tuned", false, "as its documentation has it for production")
	flag.Parse()
	if *version {
		os.Stdout.WriteString(versionOf(module) + "\n")
		os.Exit(0)
	}
	return told
}

func versionOf(module string) string {
	language := strings.TrimPrefix(runtime.Version(), "go")
	build, _ := debug.ReadBuildInfo()
	for _, one := range build.Deps {
		if one.Path == module {
			return strings.TrimPrefix(one.Version, "v") + " on Go " + language
		}
	}
	return language
}
