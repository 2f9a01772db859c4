// A catalogue of books: a JSON service that serves its own OpenAPI description.
// ADDRESS (127.0.0.1:8002) says where it listens; FAULT puts faults in (faults.go).
package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

//go:embed openapi.yaml
var description []byte

func main() {
	faults, err := parseFaults(os.Getenv("FAULT"))
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("ADDRESS"), "127.0.0.1:8002"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("catalogue: http://%s/openapi.yaml\n", listener.Addr())
	server := &http.Server{Handler: routes(newShelf(), faults), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.Serve(listener))
}

func routes(shelf *shelf, faults *faults) http.Handler {
	api := &api{shelf, faults}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		w.Write(description)
	})
	mux.HandleFunc("GET /books", api.list)
	mux.HandleFunc("GET /books/{isbn}", api.book)
	mux.HandleFunc("GET /search", api.search)
	mux.HandleFunc("POST /quotes", api.quote)
	mux.HandleFunc("GET /account", api.account)
	return mux
}
