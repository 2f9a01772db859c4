package main

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync/atomic"
)

const bookCount = 500

type book struct {
	ISBN       string `json:"isbn"`
	Title      string `json:"title"`
	Author     string `json:"author"`
	Year       int    `json:"year"`
	PriceCents int    `json:"price_cents"`
}

// The books, the same at each start, so that a test can know a price.
type shelf struct {
	books  []book
	byISBN map[string]int
	quotes atomic.Int64
}

func newShelf() *shelf {
	authors := []string{"Ada Berg", "Tomas Lind", "Mira Costa", "Jun Okada", "Lea Brandt", "Sam Ortiz", "Nia Cole"}
	nouns := []string{"Harbour", "Winter", "Orchard", "Letter", "River", "Machine", "Garden", "Map", "Island", "Clock"}
	looks := []string{"Silent", "Second", "Broken", "Northern", "Hidden", "Paper", "Last", "Green", "Long"}
	made := &shelf{byISBN: make(map[string]int, bookCount)}
	for n := range bookCount {
		one := book{
			ISBN:       isbn(n),
			Title:      fmt.Sprintf("The %s %s", looks[n%len(looks)], nouns[n%len(nouns)]),
			Author:     authors[n%len(authors)],
			Year:       1950 + n%70,
			PriceCents: 700 + 13*n,
		}
		made.byISBN[one.ISBN] = n
		made.books = append(made.books, one)
	}
	return made
}

func (s *shelf) find(isbn string) (book, bool) {
	index, ok := s.byISBN[isbn]
	if !ok {
		return book{}, false
	}
	return s.books[index], true
}

func (s *shelf) search(words string) []book {
	wanted := strings.ToLower(words)
	found := []book{}
	for _, book := range s.books {
		if strings.Contains(strings.ToLower(book.Title+" "+book.Author), wanted) {
			found = append(found, book)
		}
	}
	return found
}

// What a reader has at home: two books that follow from the name.
func (s *shelf) loans(reader string) []book {
	hash := fnv.New32a()
	hash.Write([]byte(reader))
	first := int(hash.Sum32() % bookCount)
	return []book{s.books[first], s.books[(first+1)%bookCount]}
}

// The ISBN of the n-th book, with its check digit.
func isbn(n int) string {
	digits := fmt.Sprintf("978%09d", 100000+n)
	sum := 0
	for index, digit := range digits {
		sum += int(digit-'0') * (1 + 2*(index%2))
	}
	return fmt.Sprintf("%s%d", digits, (10-sum%10)%10)
}
