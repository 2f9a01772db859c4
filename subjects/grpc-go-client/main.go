// A client driver around google.golang.org/grpc: a ClientConn, and unary calls on it.
//
// It knows grpc; it must not know how it is measured.
package main

import (
	"context"
	"net"
	"net/url"
	"os"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"wiretrial/subjects/driver"
	"wiretrial/subjects/echo"
)

func main() {
	library := "grpc-go " + grpc.Version
	os.Exit(driver.Drive("grpc-go-client", library, []string{"grpc", "grpcs"}, newClient))
}

type client struct {
	options    *driver.Options
	connection *grpc.ClientConn
	echo       echo.EchoClient
	opened     atomic.Int64 // the channel dials in a goroutine of its own
}

func newClient(options *driver.Options) driver.Client {
	return &client{options: options}
}

// Open makes the channel; its connection is opened by the first call.
func (client *client) Open(context.Context) error {
	target, err := url.Parse(client.options.URL)
	if err != nil {
		return err
	}
	trust := insecure.NewCredentials()
	if target.Scheme == "grpcs" {
		trust = credentials.NewTLS(client.options.TLS())
	}
	client.connection, err = grpc.NewClient(
		target.Host,
		grpc.WithTransportCredentials(trust),
		grpc.WithContextDialer(client.dial),
	)
	client.echo = echo.NewEchoClient(client.connection)
	return err
}

func (client *client) dial(ctx context.Context, address string) (net.Conn, error) {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		client.opened.Add(1)
	}
	return connection, err
}

func (client *client) Exchange(ctx context.Context, message []byte) ([]byte, error) {
	reply, err := client.echo.Unary(ctx, &echo.Message{Content: message})
	if err != nil {
		return nil, err
	}
	return reply.Content, nil
}

func (client *client) Close() {
	if client.connection != nil {
		client.connection.Close()
	}
}

func (client *client) Abort() { client.Close() }

func (client *client) Opened() int { return int(client.opened.Load()) }
