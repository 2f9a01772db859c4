// grpc-go serves wiretrial.Echo with google.golang.org/grpc on one port, and over TLS on another.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"wiretrial/subjects/echo"
)

const (
	repeated         = 10
	streams          = 1000
	streamWindow     = 1 << 20
	connectionWindow = 4 << 20
)

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.String("port", "8080", "port without TLS")
	tlsPort := flag.String("tls-port", "", "port inside TLS; none without it")
	cert := flag.String("cert", "", "file with the certificate chain, PEM")
	key := flag.String("key", "", "file with the private key, PEM")
	workers := flag.Uint("workers", 0, "threads to tune it for; 0: not tuned")
	version := flag.Bool("version", false, "say the version and end")
	flag.Parse()
	if *version {
		fmt.Println(grpc.Version)
		return
	}

	failed := make(chan error)
	options := chosen(uint32(*workers))
	go func() { failed <- serve(*host, *port, options) }()
	if *tlsPort != "" {
		identity, err := credentials.NewServerTLSFromFile(*cert, *key)
		if err != nil {
			log.Fatal(err)
		}
		secure := append(options[:len(options):len(options)], grpc.Creds(identity))
		go func() { failed <- serve(*host, *tlsPort, secure) }()
	}
	log.Fatal(<-failed)
}

// chosen are the options of both servers; none is the default.
func chosen(workers uint32) []grpc.ServerOption {
	if workers == 0 {
		return nil
	}
	return []grpc.ServerOption{
		grpc.NumStreamWorkers(workers),
		grpc.SharedWriteBuffer(true),
		grpc.MaxConcurrentStreams(streams),
		grpc.InitialWindowSize(streamWindow),
		grpc.InitialConnWindowSize(connectionWindow),
	}
}

func serve(host, port string, options []grpc.ServerOption) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	server := grpc.NewServer(options...)
	echo.RegisterEchoServer(server, service{})
	return server.Serve(listener)
}

type service struct {
	echo.UnimplementedEchoServer
}

func (service) Unary(_ context.Context, message *echo.Message) (*echo.Message, error) {
	return message, nil
}

func (service) Server(
	message *echo.Message, stream grpc.ServerStreamingServer[echo.Message],
) error {
	for range repeated {
		if err := stream.Send(message); err != nil {
			return err
		}
	}
	return nil
}

func (service) Client(
	stream grpc.ClientStreamingServer[echo.Message, echo.Message],
) error {
	last := &echo.Message{}
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(last)
		}
		if err != nil {
			return err
		}
		last = message
	}
}

func (service) Bidi(stream grpc.BidiStreamingServer[echo.Message, echo.Message]) error {
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(message); err != nil {
			return err
		}
	}
}
