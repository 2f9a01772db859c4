// go-http2 serves the HTTP contracts with net/http alone: HTTP/1.1 and HTTP/2 on one port, and both over
// TLS on another.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
)

const (
	message       = `{"seq":"0000000000000000","text":"one message of 64 bytes....."}`
	mostStreams   = 1000
	streamBuffer  = 1 << 20
	connectionBuf = 4 << 20
)

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.String("port", "8080", "port without TLS")
	tlsPort := flag.String("tls-port", "", "port inside TLS; none without it")
	cert := flag.String("cert", "", "file with the certificate chain, PEM")
	key := flag.String("key", "", "file with the private key, PEM")
	tuned := flag.Bool("tuned", false, "larger receive buffers, more streams, no log")
	version := flag.Bool("version", false, "say the version and end")
	flag.Parse()
	if *version {
		fmt.Println(strings.TrimPrefix(runtime.Version(), "go"))
		return
	}

	server := http.Server{Handler: routes(), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	if *tuned {
		server.ErrorLog = log.New(io.Discard, "", 0)
		server.HTTP2 = &http.HTTP2Config{
			MaxConcurrentStreams:          mostStreams,
			MaxReceiveBufferPerStream:     streamBuffer,
			MaxReceiveBufferPerConnection: connectionBuf,
		}
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

func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", echo)
	mux.HandleFunc("GET /message", giveMessage)
	return mux
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	reply(w, "application/octet-stream", body)
}

func giveMessage(w http.ResponseWriter, _ *http.Request) {
	reply(w, "application/json", []byte(message))
}

// reply says the length in front: net/http does so itself only for short answers.
func reply(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	// Who is gone gets no answer.
	_, _ = w.Write(body)
}
