package main

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"wiretrial/subjects/push"
)

// service is wiretrial.Push of push.proto. Its messages are those of the well-known types that have the same fields, so
// that nothing has to be generated.
var service = grpc.ServiceDesc{
	ServiceName: "wiretrial.Push",
	HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{
		{StreamName: "Subscribe", Handler: subscribe, ServerStreams: true},
	},
}

// subscribe tells what comes to the hub until the client leaves.
func subscribe(server any, stream grpc.ServerStream) error {
	hub := server.(*push.Hub)
	if err := stream.RecvMsg(&emptypb.Empty{}); err != nil {
		return err
	}
	// Else it would go with the first message.
	if err := stream.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	events := hub.Join()
	defer hub.Leave(events)
	for {
		select {
		case <-stream.Context().Done():
			return stream.Context().Err()
		case event, open := <-events:
			if !open {
				return status.Error(codes.ResourceExhausted, "too many events wait")
			}
			if err := stream.SendMsg(wrapperspb.Bytes(event)); err != nil {
				return err
			}
		}
	}
}
