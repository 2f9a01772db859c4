// A server of grpc-go with the service of gRPC's own interoperation tests: prints its port.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // Who sends in gzip is answered in it.
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	pb "google.golang.org/grpc/interop/grpc_testing"
)

type service struct {
	pb.UnimplementedTestServiceServer
}

// UnaryCall answers with as many bytes as are asked for, and an identifier of its own.
func (service) UnaryCall(_ context.Context, in *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	if wanted := in.GetResponseStatus(); wanted.GetCode() != 0 {
		return nil, status.Error(codes.Code(wanted.GetCode()), wanted.GetMessage())
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	return &pb.SimpleResponse{
		Payload:  &pb.Payload{Body: make([]byte, in.GetResponseSize())},
		ServerId: hex.EncodeToString(id),
	}, nil
}

// StreamingOutputCall answers with a message of each size that is asked for.
func (service) StreamingOutputCall(
	in *pb.StreamingOutputCallRequest, out grpc.ServerStreamingServer[pb.StreamingOutputCallResponse],
) error {
	return answer(in, out.Send)
}

// StreamingInputCall answers with the size of all that came.
func (service) StreamingInputCall(
	stream grpc.ClientStreamingServer[pb.StreamingInputCallRequest, pb.StreamingInputCallResponse],
) error {
	var size int
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(
				&pb.StreamingInputCallResponse{AggregatedPayloadSize: int32(size)},
			)
		}
		if err != nil {
			return err
		}
		size += len(in.GetPayload().GetBody())
	}
}

// FullDuplexCall answers each message while others come.
func (service) FullDuplexCall(
	stream grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse],
) error {
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := answer(in, stream.Send); err != nil {
			return err
		}
	}
}

func answer(
	in *pb.StreamingOutputCallRequest, send func(*pb.StreamingOutputCallResponse) error,
) error {
	for _, one := range in.GetResponseParameters() {
		payload := &pb.Payload{Body: make([]byte, one.GetSize())}
		if err := send(&pb.StreamingOutputCallResponse{Payload: payload}); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterTestServiceServer(server, service{})
	reflection.Register(server)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(server.Serve(listener))
}
