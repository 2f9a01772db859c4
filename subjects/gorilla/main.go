// gorilla serves a WebSocket echo with gorilla/websocket and the HTTP contracts with net/http, on one
// port, and both over TLS on another.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

const library = "github.com/gorilla/websocket"

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.String("port", "8080", "port of http and ws")
	tlsPort := flag.String("tls-port", "", "port of https and wss; none without it")
	cert := flag.String("cert", "", "file with the certificate chain, PEM")
	key := flag.String("key", "", "file with the private key, PEM")
	delay := flag.Duration("delay", 0, "how long POST /test waits, such as 10ms")
	tuned := flag.Bool("tuned", false, "echo as a stream through shared buffers, log nothing")
	deflate := flag.Bool("deflate", false, "compress WebSocket messages")
	version := flag.Bool("version", false, "say the version and end")
	flag.Parse()
	if *version {
		sayVersion()
		return
	}

	server := http.Server{Handler: routes(*delay, echo(*tuned, *deflate), broadcast(*deflate))}
	if *tuned {
		server.ErrorLog = log.New(io.Discard, "", 0)
	}
	failed := make(chan error)
	go func() { failed <- server.Serve(listen(*host, *port)) }()
	if *tlsPort != "" {
		go func() { failed <- server.ServeTLS(listen(*host, *tlsPort), *cert, *key) }()
	}
	log.Fatal(<-failed)
}

func listen(host, port string) net.Listener {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

func echo(tuned, deflate bool) http.HandlerFunc {
	switch {
	case deflate:
		return echoCompressed
	case tuned:
		return echoStream
	default:
		return echoMessages
	}
}

func broadcast(deflate bool) http.HandlerFunc {
	return newHall().handler(websocket.Upgrader{EnableCompression: deflate})
}

func routes(delay time.Duration, echo, broadcast http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", echo)
	mux.HandleFunc("GET /broadcast", broadcast)
	mux.HandleFunc("POST /echo", echoBody)
	mux.HandleFunc("GET /message", giveMessage)
	mux.HandleFunc("POST /test", receive(delay))
	mux.HandleFunc("GET /test/status", giveStatus)
	mux.HandleFunc("GET /test/labels/{label}", giveLabel)
	mux.HandleFunc("GET /messages/{id}", giveByID)
	return mux
}

func sayVersion() {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == library {
			version := strings.TrimPrefix(module.Version, "v")
			fmt.Printf("%s on Go %s\n", version, strings.TrimPrefix(runtime.Version(), "go"))
		}
	}
}
