// SPDX-License-Identifier: Apache-2.0

// Package maxprocs sets GOMAXPROCS to the number of CPUs that this process may use, and follows its changes once a second:
//
//	import _ "sukima.local/capacity/maxprocs"
//
// A program whose user has set the variable GOMAXPROCS to a number above 0 keeps that number. Go ignores other values.
package maxprocs

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"sukima.local/capacity"
)

func init() {
	if own, err := strconv.ParseInt(os.Getenv("GOMAXPROCS"), 10, 32); err == nil && own > 0 {
		return
	}
	threads, err := capacity.Threads()
	if err != nil {
		fmt.Fprintf(os.Stderr, "sukima: %v; GOMAXPROCS stays %d\n", err, runtime.GOMAXPROCS(0))
		return
	}
	runtime.GOMAXPROCS(threads)
	go follow(threads)
}

// follow repeats the reading. A call of GOMAXPROCS stops all goroutines for a moment, so it is made for a change only.
func follow(threads int) {
	for range time.Tick(time.Second) {
		if now, err := capacity.Threads(); err == nil && now != threads {
			threads = now
			runtime.GOMAXPROCS(threads)
		}
	}
}
