// Package driver is the loop of a client driver: warm-up, repetitions, a line of JSON for each.
//
// It knows the clock, the histogram and the contract in subjects/_contract/README.md; it must not
// know any library.
package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest            = 60 * time.Second
	significantDigits  = 3
	mostFailuresInARow = 10
)

// Client is a library's client, with one exchange in flight. Each call is bounded by its context.
type Client interface {
	// Open connects, where the library can do so without a request.
	Open(ctx context.Context) error
	// Exchange sends the message and returns the content of the reply.
	Exchange(ctx context.Context, message []byte) ([]byte, error)
	// Close ends the connection in order; what goes wrong now concerns nobody.
	Close()
	// Abort ends it at once.
	Abort()
	// Opened counts the connections that it opened so far.
	Opened() int
}

// MakeClient returns at once; the client connects in Open, or with its first exchange.
type MakeClient func(options *Options) Client

// Drive runs the driver as the command line says; it returns the exit status of the contract.
func Drive(name, library string, schemes []string, makeClient MakeClient) int {
	options, err := readOptions(schemes, os.Args[1:])
	if errors.Is(err, errVersion) {
		fmt.Println(library)
		return 0
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, oneLine(err))
		return 2
	}
	loop := &loop{options: options, library: library, makeClient: makeClient}
	if err := loop.run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, oneLine(err))
		return 1
	}
	return 0
}

// repetition is what is told of one.
type repetition struct {
	Schema      string  `json:"schema"`
	Version     int     `json:"version"`
	Library     string  `json:"library"`
	Repetition  int     `json:"repetition"`
	Mode        string  `json:"mode"`
	Iterations  int     `json:"iterations"`
	Errors      int     `json:"errors"`
	FirstError  *string `json:"first_error"`
	Connections int     `json:"connections"`
	WallNs      int64   `json:"wall_ns"`
	CPUUserNs   int64   `json:"cpu_user_ns"`
	CPUSystemNs int64   `json:"cpu_system_ns"`
	Histogram   string  `json:"histogram"`
}

type loop struct {
	options    *Options
	library    string
	makeClient MakeClient

	client        Client
	openedBefore  int // by the clients before this one
	failuresInRow int
}

func (loop *loop) run() error {
	unrecorded := loop.options.Warmup
	if loop.options.Kept {
		// A kept connection stands before the clock starts: the first exchange is never recorded.
		unrecorded = max(unrecorded, 1)
	}
	discarded := newRecording()
	for range unrecorded {
		if err := loop.iterate(discarded); err != nil {
			return err
		}
	}
	lines := json.NewEncoder(os.Stdout)
	for number := range loop.options.Repetitions {
		told, err := loop.repeat(number)
		if err != nil {
			return err
		}
		if err := lines.Encode(told); err != nil {
			return err
		}
	}
	loop.disconnect(Client.Close)
	return nil
}

func (loop *loop) repeat(number int) (*repetition, error) {
	recording := newRecording()
	connections := -loop.opened()
	if loop.client != nil {
		connections++
	}
	user, system := cpuTimes()
	start := time.Now()
	for range loop.options.Iterations {
		if err := loop.iterate(recording); err != nil {
			return nil, err
		}
	}
	wall := time.Since(start)
	userEnd, systemEnd := cpuTimes()
	connections += loop.opened()
	encoded, err := recording.histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, err
	}
	mode := "fresh"
	if loop.options.Kept {
		mode = "kept"
	}
	return &repetition{
		Schema:      "wiretrial-driver",
		Version:     1,
		Library:     loop.library,
		Repetition:  number,
		Mode:        mode,
		Iterations:  loop.options.Iterations,
		Errors:      recording.errors,
		FirstError:  recording.firstError,
		Connections: connections,
		WallNs:      wall.Nanoseconds(),
		CPUUserNs:   userEnd - user,
		CPUSystemNs: systemEnd - system,
		Histogram:   string(encoded),
	}, nil
}

// iterate fails only where the driver can't go on.
func (loop *loop) iterate(recording *recording) error {
	ctx, cancel := context.WithTimeout(context.Background(), loop.options.Timeout)
	defer cancel()
	elapsed, err := loop.exchange(ctx)
	if err == nil {
		loop.failuresInRow = 0
		err = recording.succeeded(elapsed)
		if !loop.options.Kept {
			loop.disconnect(Client.Close)
		}
		return err
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("no reply within %s", loop.options.Timeout)
	}
	loop.disconnect(Client.Abort)
	recording.failed(err)
	loop.failuresInRow++
	if loop.failuresInRow == mostFailuresInARow {
		return fmt.Errorf("%d failures in a row; the last: %w", mostFailuresInARow, err)
	}
	return nil
}

// exchange is one verified exchange, with its connection where there is none yet.
func (loop *loop) exchange(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	if loop.client == nil {
		loop.client = loop.makeClient(loop.options)
		if err := loop.client.Open(ctx); err != nil {
			return 0, err
		}
	}
	reply, err := loop.client.Exchange(ctx, loop.options.Message)
	if err != nil {
		return 0, err
	}
	if err := verify(reply, loop.options.Expected); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

func (loop *loop) disconnect(end func(Client)) {
	if loop.client == nil {
		return
	}
	loop.openedBefore += loop.client.Opened()
	end(loop.client)
	loop.client = nil
}

func (loop *loop) opened() int {
	if loop.client == nil {
		return loop.openedBefore
	}
	return loop.openedBefore + loop.client.Opened()
}

// recording is what one repetition found.
type recording struct {
	histogram  *hdrhistogram.Histogram
	errors     int
	firstError *string
}

func newRecording() *recording {
	return &recording{histogram: hdrhistogram.New(1, longest.Nanoseconds(), significantDigits)}
}

func (recording *recording) succeeded(elapsed time.Duration) error {
	return recording.histogram.RecordValue(min(elapsed, longest).Nanoseconds())
}

func (recording *recording) failed(err error) {
	recording.errors++
	if recording.firstError == nil {
		said := oneLine(err)
		recording.firstError = &said
	}
}

func verify(reply, expected []byte) error {
	if bytes.Equal(reply, expected) {
		return nil
	}
	if len(reply) != len(expected) {
		return fmt.Errorf("wrong reply: %d bytes instead of %d", len(reply), len(expected))
	}
	at := 0
	for reply[at] == expected[at] {
		at++
	}
	return fmt.Errorf("wrong reply: byte %d is %d instead of %d", at, reply[at], expected[at])
}

// cpuTimes are the whole process's, in nanoseconds.
func cpuTimes() (user, system int64) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // It has no way to fail with these arguments.
	}
	return usage.Utime.Nano(), usage.Stime.Nano()
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}
