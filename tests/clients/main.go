// SPDX-License-Identifier: Apache-2.0
// A Go program for the tests of `sukima run`. With a number it does so many pieces of work, for
// lab/scripts/run-table.py.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// Half a millisecond of work, and some garbage.
func piece(seed uint64) uint64 {
	values := make([]uint64, 4096)
	x := seed*2 + 1
	for i := 0; i < 200000; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		values[i%len(values)] += x
	}
	return values[seed%uint64(len(values))]
}

func work(pieces int) uint64 {
	var group sync.WaitGroup
	var sum atomic.Uint64
	for i := 0; i < pieces; i++ {
		group.Add(1)
		go func(seed uint64) {
			defer group.Done()
			sum.Add(piece(seed))
		}(uint64(i))
	}
	group.Wait()
	return sum.Load()
}

func main() {
	if len(os.Args) > 1 {
		pieces, err := strconv.Atoi(os.Args[1])
		if err != nil {
			panic(err)
		}
		fmt.Printf("result %d\n", work(pieces))
		return
	}
	var group sync.WaitGroup
	sums := make([]int64, 8)
	for part := range sums {
		group.Add(1)
		go func(part int) {
			defer group.Done()
			for i := part + 1; i <= 1000000; i += len(sums) {
				sums[part] += int64(i)
			}
		}(part)
	}
	group.Wait()
	var sum int64
	for _, partial := range sums {
		sum += partial
	}
	fmt.Printf("threads %d\nresult %d\n", runtime.GOMAXPROCS(0), sum)
}
