// grpc-go-push tells many receivers what one has posted, by calls of wiretrial.Push with google.golang.org/grpc. It is
// posted over HTTP/1.1 to the same port, and both go over TLS on another.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"google.golang.org/grpc"

	"wiretrial/subjects/push"
)

// readBuffer has room for what a receiver says, which is next to nothing, bytes; the usual one has 32 KiB.
const readBuffer = 4 << 10

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.String("port", "8080", "port without TLS")
	tlsPort := flag.String("tls-port", "", "port inside TLS; none without it")
	cert := flag.String("cert", "", "file with the certificate chain, PEM")
	key := flag.String("key", "", "file with the private key, PEM")
	tuned := flag.Bool("tuned", false, "a small read buffer for each connection")
	version := flag.Bool("version", false, "say the version and end")
	flag.Parse()
	if *version {
		fmt.Println(grpc.Version)
		return
	}

	hub := push.NewHub()
	calls := grpc.NewServer(chosen(*tuned)...)
	calls.RegisterService(&service, hub)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /publish", hub.Publish)
	posts := http.Server{Handler: mux}

	failed := make(chan error)
	serve := func(listener net.Listener) {
		called, posted := split(listener)
		go func() { failed <- calls.Serve(called) }()
		go func() { failed <- posts.Serve(posted) }()
	}
	serve(listen(*host, *port))
	if *tlsPort != "" {
		identity, err := tls.LoadX509KeyPair(*cert, *key)
		if err != nil {
			log.Fatal(err)
		}
		inside := &tls.Config{
			Certificates: []tls.Certificate{identity},
			NextProtos:   []string{overHTTP2, "http/1.1"},
		}
		serve(tls.NewListener(listen(*host, *tlsPort), inside))
	}
	log.Fatal(<-failed)
}

// chosen are the options of the server; none is the default.
func chosen(tuned bool) []grpc.ServerOption {
	if !tuned {
		return nil
	}
	return []grpc.ServerOption{grpc.ReadBufferSize(readBuffer)}
}

func listen(host, port string) net.Listener {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		log.Fatal(err)
	}
	return listener
}
