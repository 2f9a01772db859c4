// A client driver around coder/websocket: one WebSocket, one message in flight.
//
// It knows coder/websocket; it must not know how it is measured.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/coder/websocket"

	"wiretrial/subjects/driver"
)

func main() {
	library := "coder/websocket " + version() + " on Go " + strings.TrimPrefix(runtime.Version(), "go")
	os.Exit(driver.Drive("coder-websocket-client", library, []string{"ws", "wss"}, newClient))
}

type client struct {
	options    *driver.Options
	connection *websocket.Conn
}

func newClient(options *driver.Options) driver.Client { return &client{options: options} }

// Open upgrades; messages of any size are read, where the library's default ends at 32 KiB.
func (client *client) Open(ctx context.Context) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // Proxies of the environment are none of the experiment's.
	transport.TLSClientConfig = client.options.TLS()
	options := &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}
	connection, _, err := websocket.Dial(ctx, client.options.URL, options)
	if err != nil {
		transport.CloseIdleConnections()
		return err
	}
	connection.SetReadLimit(-1)
	client.connection = connection
	return nil
}

func (client *client) Exchange(ctx context.Context, message []byte) ([]byte, error) {
	if err := client.connection.Write(ctx, websocket.MessageBinary, message); err != nil {
		return nil, err
	}
	kind, reply, err := client.connection.Read(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageBinary {
		return nil, errors.New("wrong reply: a text message instead of a binary one")
	}
	return reply, nil
}

func (client *client) Close() {
	if client.connection != nil {
		// It may have ended already; the library bounds the closing handshake.
		_ = client.connection.Close(websocket.StatusNormalClosure, "")
	}
}

func (client *client) Abort() {
	if client.connection != nil {
		_ = client.connection.CloseNow()
	}
}

func (client *client) Opened() int {
	if client.connection == nil {
		return 0
	}
	return 1
}

// version is that of the library in this program.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/coder/websocket" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "of unknown version"
}
