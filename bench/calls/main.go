// A server of grpc-go that answers wiretrial.Echo/Unary (echo.proto) with its request, on one address.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// On the wire a StringValue is what echo.proto's Message is.
type message = wrapperspb.StringValue

type echo interface {
	unary(context.Context, *message) (*message, error)
}

type server struct{}

func (server) unary(_ context.Context, asked *message) (*message, error) {
	return asked, nil
}

func unary(
	service any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
) (any, error) {
	asked := new(message)
	if err := decode(asked); err != nil {
		return nil, err
	}
	return service.(echo).unary(ctx, asked)
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: calls IP:PORT")
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	calls := grpc.NewServer()
	calls.RegisterService(&grpc.ServiceDesc{
		ServiceName: "wiretrial.Echo",
		HandlerType: (*echo)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Unary", Handler: unary}},
	}, server{})
	fmt.Println("listening on", listener.Addr())
	log.Fatal(calls.Serve(listener))
}
