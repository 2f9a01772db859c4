package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	pageSize  = 20
	mostLines = 50
	mostBytes = 64 << 10
)

type api struct {
	shelf  *shelf
	faults *faults
}

type page struct {
	Books []book `json:"books"`
	Page  int    `json:"page"`
	Total int    `json:"total"`
}

type line struct {
	ISBN     string `json:"isbn"`
	Quantity int    `json:"quantity"`
}

type quote struct {
	Number     int64     `json:"number"`
	Lines      int       `json:"lines"`
	TotalCents int       `json:"total_cents"`
	ValidUntil time.Time `json:"valid_until"`
}

type account struct {
	Reader string `json:"reader"`
	Loans  []book `json:"loans"`
}

func (a *api) list(w http.ResponseWriter, r *http.Request) {
	number := 1
	if given := r.URL.Query().Get("page"); given != "" {
		var err error
		if number, err = strconv.Atoi(given); err != nil || number < 1 {
			refuse(w, http.StatusBadRequest, "page is not a number from 1")
			return
		}
	}
	books := a.shelf.books
	from := min((number-1)*pageSize, len(books))
	say(w, http.StatusOK, page{books[from:min(from+pageSize, len(books))], number, len(books)})
}

func (a *api) book(w http.ResponseWriter, r *http.Request) {
	if book, ok := a.shelf.find(r.PathValue("isbn")); ok {
		say(w, http.StatusOK, book)
		return
	}
	refuse(w, http.StatusNotFound, "there is no such book")
}

func (a *api) search(w http.ResponseWriter, r *http.Request) {
	words := r.URL.Query().Get("q")
	if len(words) < 2 {
		refuse(w, http.StatusBadRequest, "q needs two characters or more")
		return
	}
	if a.faults.strikes(slow, 1) {
		time.Sleep(400 * time.Millisecond)
	}
	found := a.shelf.search(words)
	say(w, http.StatusOK, page{found[:min(pageSize, len(found))], 1, len(found)})
}

func (a *api) quote(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Lines []line `json:"lines"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBytes)).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, "the body is not a quote: "+err.Error())
		return
	}
	if len(asked.Lines) == 0 || len(asked.Lines) > mostLines {
		refuse(w, http.StatusUnprocessableEntity, "a quote has 1 to 50 lines")
		return
	}
	total := 0
	for _, line := range asked.Lines {
		book, ok := a.shelf.find(line.ISBN)
		if !ok || line.Quantity < 1 {
			refuse(w, http.StatusUnprocessableEntity, "no such book, or a quantity below 1: "+line.ISBN)
			return
		}
		total += line.Quantity * book.PriceCents
	}
	if !a.faults.enter() {
		refuse(w, http.StatusInternalServerError, "too many quotes at once")
		return
	}
	defer a.faults.leave()
	if a.faults.strikes(wrongTotal, 1000) {
		total++
	}
	validUntil := time.Now().UTC().Add(24 * time.Hour)
	say(w, http.StatusCreated, quote{a.shelf.quotes.Add(1), len(asked.Lines), total, validUntil})
}

func (a *api) account(w http.ResponseWriter, r *http.Request) {
	reader, ok := strings.CutPrefix(r.Header.Get("X-Api-Key"), "key-of-")
	if !ok {
		refuse(w, http.StatusUnauthorized, "X-Api-Key names no reader")
		return
	}
	if a.faults.strikes(leak, 50) {
		reader = "somebody-else"
	}
	say(w, http.StatusOK, account{reader, a.shelf.loans(reader)})
}

func say(w http.ResponseWriter, status int, content any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(content)
}

func refuse(w http.ResponseWriter, status int, what string) {
	say(w, status, map[string]string{"error": what})
}
