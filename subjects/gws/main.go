// gws serves a WebSocket echo with lxzan/gws and its own server, on one port plain and on another over
// TLS.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/lxzan/gws"
)

const (
	library = "github.com/lxzan/gws"
	largest = 128 << 20
)

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.String("port", "8080", "port of ws")
	tlsPort := flag.String("tls-port", "", "port of wss; none without it")
	cert := flag.String("cert", "", "file with the certificate chain, PEM")
	key := flag.String("key", "", "file with the private key, PEM")
	tuned := flag.Bool("tuned", false, "recover from panics, log nothing")
	version := flag.Bool("version", false, "say the version and end")
	flag.Parse()
	if *version {
		sayVersion()
		return
	}

	server := newServer(*tuned)
	failed := make(chan error)
	go func() { failed <- server.Run(net.JoinHostPort(*host, *port)) }()
	if *tlsPort != "" {
		go func() { failed <- server.RunTLS(net.JoinHostPort(*host, *tlsPort), *cert, *key) }()
	}
	log.Fatal(<-failed)
}

func newServer(tuned bool) *gws.Server {
	option := gws.ServerOption{ReadMaxPayloadSize: largest, WriteMaxPayloadSize: largest}
	if tuned {
		option.Recovery = gws.Recovery
	}
	server := gws.NewServer(echo{}, &option)
	if tuned {
		server.OnError = hangUp
	}
	return server
}

// hangUp stands for the server's own handler, which logs why a connection became no WebSocket.
func hangUp(connection net.Conn, _ error) {
	// There is none where accepting it was what failed.
	if connection != nil {
		_ = connection.Close()
	}
}

type echo struct {
	gws.BuiltinEventHandler
}

// OnPing answers with the ping's own content, as RFC 6455 wants it; the built-in handler sends none.
func (echo) OnPing(socket *gws.Conn, payload []byte) {
	_ = socket.WritePong(payload)
}

func (echo) OnMessage(socket *gws.Conn, message *gws.Message) {
	defer message.Close()
	// After an error the library has ended the connection itself.
	_ = socket.WriteMessage(message.Opcode, message.Bytes())
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
