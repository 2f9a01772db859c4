// coder-websocket serves a WebSocket echo with coder/websocket on net/http, on one port plain and on
// another over TLS.
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

	"github.com/coder/websocket"
)

const (
	library = "github.com/coder/websocket"
	largest = 128 << 20
)

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.String("port", "8080", "port of ws")
	tlsPort := flag.String("tls-port", "", "port of wss; none without it")
	cert := flag.String("cert", "", "file with the certificate chain, PEM")
	key := flag.String("key", "", "file with the private key, PEM")
	tuned := flag.Bool("tuned", false, "echo as a stream, log nothing")
	version := flag.Bool("version", false, "say the version and end")
	flag.Parse()
	if *version {
		sayVersion()
		return
	}

	pass := passWhole
	server := http.Server{}
	if *tuned {
		pass = passOn
		server.ErrorLog = log.New(io.Discard, "", 0)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { echo(w, r, pass) })
	server.Handler = mux
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

// echo passes messages on until the first error: a close, a frame that breaks the protocol, a lost peer.
func echo(w http.ResponseWriter, r *http.Request, pass func(*http.Request, *websocket.Conn) error) {
	connection, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer connection.CloseNow()
	connection.SetReadLimit(largest)
	for pass(r, connection) == nil {
	}
}

// passWhole holds each message whole, with the package's convenient functions.
func passWhole(r *http.Request, connection *websocket.Conn) error {
	kind, message, err := connection.Read(r.Context())
	if err != nil {
		return err
	}
	return connection.Write(r.Context(), kind, message)
}

// passOn passes a message on as it comes.
func passOn(r *http.Request, connection *websocket.Conn) error {
	kind, reader, err := connection.Reader(r.Context())
	if err != nil {
		return err
	}
	writer, err := connection.Writer(r.Context(), kind)
	if err != nil {
		return err
	}
	if _, err := io.Copy(writer, reader); err != nil {
		return err
	}
	return writer.Close()
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
