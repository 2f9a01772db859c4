// A client driver around net/http: a Client with a Transport as the library's default one is.
//
// It knows net/http; it must not know how it is measured.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"wiretrial/subjects/driver"
)

func main() {
	library := "net/http of Go " + strings.TrimPrefix(runtime.Version(), "go")
	os.Exit(driver.Drive("go-http-client", library, []string{"http", "https"}, newClient))
}

type client struct {
	http   http.Client
	url    string
	opened atomic.Int64 // the transport dials in a goroutine of its own
}

func newClient(options *driver.Options) driver.Client {
	made := &client{url: options.URL}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // Proxies of the environment are none of the experiment's.
	transport.TLSClientConfig = options.TLS()
	if options.HTTP2 {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(true)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dial(ctx, network, address)
		if err == nil {
			made.opened.Add(1)
		}
		return connection, err
	}
	made.http.Transport = transport
	return made
}

// Open does nothing: net/http has no call that only connects.
func (client *client) Open(context.Context) error { return nil }

func (client *client) Exchange(ctx context.Context, message []byte) ([]byte, error) {
	request, err := client.request(ctx, message)
	if err != nil {
		return nil, err
	}
	response, err := client.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d instead of 200", response.StatusCode)
	}
	return content, nil
}

func (client *client) request(ctx context.Context, message []byte) (*http.Request, error) {
	if len(message) == 0 {
		return http.NewRequestWithContext(ctx, http.MethodGet, client.url, nil)
	}
	return http.NewRequestWithContext(ctx, http.MethodPost, client.url, bytes.NewReader(message))
}

func (client *client) Close() { client.http.CloseIdleConnections() }

// Abort has no more to do: a connection whose request failed is closed already.
func (client *client) Abort() { client.Close() }

func (client *client) Opened() int { return int(client.opened.Load()) }
