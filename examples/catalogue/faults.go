package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Faults put in on purpose, to see whether a load test finds them: FAULT=total, or several.
// Without FAULT there are none. They are no part of how a service should be written.
const (
	wrongTotal = "total"    // the total of each 1,000th quote is a cent too high
	slow       = "slow"     // a search takes 400 ms
	leak       = "leak"     // each 50th account is another reader's
	overload   = "overload" // a quote is answered with a 500 while another is made
)

type faults struct {
	asked []string
	seen  map[string]*atomic.Int64
	busy  sync.Mutex
}

func parseFaults(asked string) (*faults, error) {
	known := []string{wrongTotal, slow, leak, overload}
	made := &faults{seen: map[string]*atomic.Int64{}}
	for _, kind := range known {
		made.seen[kind] = new(atomic.Int64)
	}
	for _, kind := range strings.FieldsFunc(asked, func(sign rune) bool { return sign == ',' }) {
		if !slices.Contains(known, kind) {
			return nil, fmt.Errorf("FAULT=%s: one of %s", kind, strings.Join(known, ", "))
		}
		made.asked = append(made.asked, kind)
	}
	return made, nil
}

// Whether this is an occasion for the fault: each so many-th is, if it was asked for.
func (f *faults) strikes(kind string, every int64) bool {
	return slices.Contains(f.asked, kind) && f.seen[kind].Add(1)%every == 0
}

// Whether there is room for one more; for one at a time, where overload was asked for.
func (f *faults) enter() bool {
	if !slices.Contains(f.asked, overload) {
		return true
	}
	if !f.busy.TryLock() {
		return false
	}
	time.Sleep(5 * time.Millisecond)
	return true
}

func (f *faults) leave() {
	if slices.Contains(f.asked, overload) {
		f.busy.Unlock()
	}
}
