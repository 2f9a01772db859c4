// Command go-web serves the contract `web` by net/http alone: its ServeMux, encoding/json and
// html/template.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"net/http"

	"wiretrial/subjects/web"
)

type server struct {
	store *web.Store
}

func main() {
	options := web.Flags("std")
	store, err := web.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	s := server{store}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plaintext", s.plaintext)
	mux.HandleFunc("GET /json", s.json)
	mux.HandleFunc("GET /db", s.one)
	mux.HandleFunc("GET /queries", s.queries)
	mux.HandleFunc("GET /updates", s.updates)
	mux.HandleFunc("GET /cached", s.cached)
	mux.HandleFunc("GET /fortunes", s.fortunes)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("GET /items", s.items)
	mux.HandleFunc("POST /items", s.add)
	log.Fatal(http.ListenAndServe(options.Address, mux))
}

func (s server) plaintext(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write([]byte(web.Greeting))
}

func (s server) json(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusOK, web.Message{Message: web.Greeting}, nil)
}

func (s server) one(w http.ResponseWriter, r *http.Request) {
	found, err := s.store.Row(r.Context(), web.Number(r.URL.Query().Get("id")))
	say(w, http.StatusOK, found, err)
}

func (s server) queries(w http.ResponseWriter, r *http.Request) {
	found, err := s.store.Rows(r.Context(), ids(r))
	say(w, http.StatusOK, found, err)
}

func (s server) updates(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	changes := web.Changes(asked.Get("id"), asked.Get("count"), asked.Get("number"))
	say(w, http.StatusOK, changes, s.store.Change(r.Context(), changes))
}

func (s server) cached(w http.ResponseWriter, r *http.Request) {
	found, err := s.store.Cached(r.Context(), ids(r))
	say(w, http.StatusOK, found, err)
}

func (s server) fortunes(w http.ResponseWriter, r *http.Request) {
	found, err := s.store.Fortunes(r.Context())
	var page bytes.Buffer
	if err == nil {
		err = web.Render(&page, found)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", web.HTML)
	_, _ = w.Write(page.Bytes())
}

func (s server) login(w http.ResponseWriter, r *http.Request) {
	var said web.Login
	if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	token, fits, err := s.store.Login(r.Context(), said)
	if err == nil && !fits {
		say(w, http.StatusUnauthorized, web.Nothing{}, nil)
		return
	}
	say(w, http.StatusOK, token, err)
}

func (s server) items(w http.ResponseWriter, r *http.Request) {
	if account, known := s.account(w, r); known {
		found, err := s.store.Items(r.Context(), account)
		say(w, http.StatusOK, found, err)
	}
}

func (s server) add(w http.ResponseWriter, r *http.Request) {
	account, known := s.account(w, r)
	if !known {
		return
	}
	var said web.Item
	if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	made, err := s.store.Add(r.Context(), account, said)
	say(w, http.StatusCreated, made, err)
}

// account is who asks; nobody is told so.
func (s server) account(w http.ResponseWriter, r *http.Request) (int, bool) {
	account, known, err := s.store.Account(r.Context(), web.Bearer(r.Header.Get("Authorization")))
	if !known {
		say(w, http.StatusUnauthorized, web.Nothing{}, err)
	}
	return account, known
}

func ids(r *http.Request) []int {
	asked := r.URL.Query()
	return web.Chain(web.Number(asked.Get("id")), web.Clamped(asked.Get("count")))
}

func say(w http.ResponseWriter, status int, said any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", web.JSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said)
}
