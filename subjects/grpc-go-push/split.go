package main

import (
	"crypto/tls"
	"io"
	"net"
	"time"
)

const (
	// The protocol that a client of gRPC agrees on inside TLS.
	overHTTP2 = "h2"
	// Without TLS, HTTP/2 begins so, and no request of HTTP/1.1 does.
	preface = "PRI "
	// No connection could be accepted, which may pass.
	pause = 5 * time.Millisecond
)

// side is where one kind of connection is accepted of those that come to a port.
type side struct {
	net.Listener
	connections chan net.Conn
}

func (s side) Accept() (net.Conn, error) {
	return <-s.connections, nil
}

// begun is a connection of which something was read.
type begun struct {
	net.Conn
	begin []byte
}

func (b *begun) Read(into []byte) (int, error) {
	if len(b.begin) == 0 {
		return b.Conn.Read(into)
	}
	length := copy(into, b.begin)
	b.begin = b.begin[length:]
	return length, nil
}

// split tells connections of HTTP/2, which are gRPC's, from all others.
func split(listener net.Listener) (called, posted net.Listener) {
	calls := side{listener, make(chan net.Conn)}
	posts := side{listener, make(chan net.Conn)}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				time.Sleep(pause)
				continue
			}
			// Each by itself: some say nothing.
			go hand(connection, calls.connections, posts.connections)
		}
	}()
	return calls, posts
}

// hand gives a connection to one of two, once it has said whose it is.
func hand(connection net.Conn, calls, posts chan<- net.Conn) {
	if secure, ok := connection.(*tls.Conn); ok {
		switch {
		case secure.Handshake() != nil:
			_ = secure.Close()
		case secure.ConnectionState().NegotiatedProtocol == overHTTP2:
			calls <- secure
		default:
			posts <- secure
		}
		return
	}
	begin := make([]byte, len(preface))
	if _, err := io.ReadFull(connection, begin); err != nil {
		_ = connection.Close()
		return
	}
	to := posts
	if string(begin) == preface {
		to = calls
	}
	to <- &begun{connection, begin}
}
