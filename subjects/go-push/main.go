// go-push tells many receivers what one has posted: with net/http as streams of server-sent events, and with
// gorilla/websocket, on one port, and both over TLS on another. Streams go over HTTP/2 where the client asks for it.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"

	"wiretrial/subjects/push"
)

const library = "github.com/gorilla/websocket"

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.String("port", "8080", "port of http and ws")
	tlsPort := flag.String("tls-port", "", "port of https and wss; none without it")
	cert := flag.String("cert", "", "file with the certificate chain, PEM")
	key := flag.String("key", "", "file with the private key, PEM")
	version := flag.Bool("version", false, "say the version and end")
	flag.Parse()
	if *version {
		sayVersion()
		return
	}

	server := http.Server{Handler: routes(), Protocols: protocols()}
	failed := make(chan error)
	go func() { failed <- server.Serve(listen(*host, *port)) }()
	if *tlsPort != "" {
		go func() { failed <- server.ServeTLS(listen(*host, *tlsPort), *cert, *key) }()
	}
	log.Fatal(<-failed)
}

func routes() http.Handler {
	hub := push.NewHub()
	all := receivers{hub: hub}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /publish", hub.Publish)
	mux.HandleFunc("GET /subscribe", all.subscribe)
	return mux
}

// protocols are those of both ports: HTTP/2 without TLS has to be asked for.
func protocols() *http.Protocols {
	var all http.Protocols
	all.SetHTTP1(true)
	all.SetHTTP2(true)
	all.SetUnencryptedHTTP2(true)
	return &all
}

func listen(host, port string) net.Listener {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		log.Fatal(err)
	}
	return listener
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
